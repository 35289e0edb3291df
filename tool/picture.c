// SPDX-License-Identifier: Apache-2.0
// weft spy and weft entropy: the pictures, drawn by cairo.
#include "picture.h"
#include "tool.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Lengths are in units of which the longer side of the picture has 1200.
#define UNITS 1200.0
#define TEXT  18.0 // size of letters
#define SMALL 15.0
#define ALONE 0.6 // share of the colours for the counts where every count is 1

struct box {
    double x, y, w, h;
};

// The file as it grows in memory.
struct bytes {
    unsigned char *data;
    size_t size, room;
};

struct canvas {
    cairo_t *cr;
    cairo_surface_t *surface;
    struct bytes bytes;
    int png;
};

// ---- the file --------------------------------------------------------------------------------------------------

static int ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length > tail && !strcmp(text + length - tail, end);
}

int picture_check(const char *path, int force)
{
    if (!ends_with(path, ".png") && !ends_with(path, ".svg")) {
        tool_complain("%s: a picture is a .png or a .svg file", path);
        return TOOL_USAGE;
    }
    return tool_out_check(path, force);
}

static cairo_status_t bytes_add(void *closure, const unsigned char *data, unsigned int size)
{
    struct bytes *b = closure;
    if (b->size + size > b->room) {
        const size_t room = 2 * (b->size + size);
        unsigned char *grown = realloc(b->data, room);
        if (!grown)
            return CAIRO_STATUS_NO_MEMORY;
        b->data = grown;
        b->room = room;
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return CAIRO_STATUS_SUCCESS;
}

// A white picture of w x h units.
static void canvas_begin(struct canvas *c, const struct picture *p, double w, double h)
{
    const double scale = p->size / fmax(w, h);
    const int width = (int)ceil(w * scale), height = (int)ceil(h * scale);
    *c = (struct canvas){.png = ends_with(p->path, ".png")};
    c->surface = c->png ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)
                        : cairo_svg_surface_create_for_stream(bytes_add, &c->bytes, width, height);
    c->cr = cairo_create(c->surface);
    cairo_set_source_rgb(c->cr, 1, 1, 1);
    cairo_paint(c->cr);
    cairo_scale(c->cr, scale, scale);
    cairo_set_source_rgb(c->cr, 0, 0, 0);
    cairo_set_line_width(c->cr, fmax(1, 1 / scale)); // at least a pixel
}

// Write what was drawn and drop it.
static int canvas_end(struct canvas *c, const struct picture *p)
{
    cairo_status_t status = cairo_status(c->cr);
    cairo_destroy(c->cr);
    if (!status && c->png)
        status = cairo_surface_write_to_png_stream(c->surface, bytes_add, &c->bytes);
    cairo_surface_finish(c->surface);
    if (!status)
        status = cairo_surface_status(c->surface);
    cairo_surface_destroy(c->surface);
    int code = TOOL_USAGE;
    if (status)
        tool_complain("%s cannot be drawn: %s", p->path, cairo_status_to_string(status));
    else
        code = tool_out_write(p->path, c->bytes.data, c->bytes.size, p->force);
    free(c->bytes.data);
    return code;
}

// ---- text, axes, colours -----------------------------------------------------------------------------------------

// Text at (x, y): `across` and `down` of it (0 to 1) lie before that point.
static void text_draw(cairo_t *cr, double x, double y, double across, double down, double size, const char *text)
{
    cairo_text_extents_t e;
    cairo_set_font_size(cr, size);
    cairo_text_extents(cr, text, &e);
    cairo_move_to(cr, x - across * e.x_advance, y + (1 - down) * 0.72 * size);
    cairo_show_text(cr, text);
}

static void font_set(cairo_t *cr, int bold)
{
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
}

static void heading_draw(cairo_t *cr, const struct picture *p)
{
    font_set(cr, 1);
    text_draw(cr, 20, 36, 0, 0.5, 26, p->title);
    font_set(cr, 0);
    text_draw(cr, 20, 68, 0, 0.5, TEXT, p->line);
}

// Colour of a share 0 .. 1: from a blue that stands out on white, through violet, to nearly black.
static void colour(double t, double rgb[3])
{
    static const double stops[][3] = {
        {0.55, 0.76, 0.90}, {0.26, 0.56, 0.80}, {0.19, 0.34, 0.67}, {0.27, 0.14, 0.51}, {0.13, 0.03, 0.22}};
    const int last = sizeof stops / sizeof *stops - 1;
    const double at = fmin(fmax(t, 0), 1) * last;
    const int i = at < last ? (int)at : last - 1;
    for (int k = 0; k < 3; k++)
        rgb[k] = stops[i][k] + (at - i) * (stops[i + 1][k] - stops[i][k]);
}

// Distance of ticks: 1, 2 or 5 times a power of ten, so that there are at most `most` of them.
static int64_t tick_step(int64_t length, int most)
{
    int64_t step = 1;
    for (int i = 0; length / step > most; i++)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

// Frame, ticks and numbers of the rows on the left and of the columns at the bottom.
static void axes_draw(cairo_t *cr, const struct box *b, int64_t m, int64_t n)
{
    char text[32];
    cairo_set_source_rgb(cr, 0, 0, 0);
    cairo_rectangle(cr, b->x - 0.5, b->y - 0.5, b->w + 1, b->h + 1);
    cairo_stroke(cr);
    int64_t step = tick_step(m, (int)fmax(2, b->h / 60));
    for (int64_t i = 0; i < m; i += step) {
        const double y = b->y + b->h * ((double)i + 0.5 * (m < 50)) / (double)m;
        cairo_move_to(cr, b->x - 7, y);
        cairo_line_to(cr, b->x - 1, y);
        cairo_stroke(cr);
        text_draw(cr, b->x - 11, y, 1, 0.5, SMALL, tool_count_text(text, i));
    }
    step = tick_step(n, (int)fmax(2, b->w / 95));
    for (int64_t j = 0; j < n; j += step) {
        const double x = b->x + b->w * ((double)j + 0.5 * (n < 50)) / (double)n;
        cairo_move_to(cr, x, b->y + b->h + 1);
        cairo_line_to(cr, x, b->y + b->h + 7);
        cairo_stroke(cr);
        text_draw(cr, x, b->y + b->h + 12, 0.5, 0, SMALL, tool_count_text(text, j));
    }
    text_draw(cr, b->x + b->w / 2, b->y + b->h + 36, 0.5, 0, TEXT, "column");
    cairo_save(cr);
    cairo_translate(cr, b->x - 83, b->y + b->h / 2);
    cairo_rotate(cr, -1.5707963267948966);
    text_draw(cr, 0, 0, 0.5, 0.5, TEXT, "row");
    cairo_restore(cr);
}

static double log_share(int64_t count, int64_t most)
{
    return most > 1 ? log((double)count) / log((double)most) : ALONE;
}

// Ticks of the bar: powers of ten, and the most itself; a power that would touch it is left out.
static int64_t next_tick(int64_t tick, int64_t most)
{
    if (tick == most)
        return most + 1;
    return tick <= INT64_MAX / 10 && log_share(tick * 10, most) < 0.87 && tick * 10 < most ? tick * 10 : most;
}

// The bar of colours of 1 .. most entries a bucket, on a scale of logarithms; upright, or level when it is wider than
// high. Its text stands above it.
static void bar_draw(cairo_t *cr, const struct box *b, int64_t most, const struct weft_density *d)
{
    char text[64], count[32];
    double rgb[3];
    const int level = b->w > b->h, steps = most > 1 ? 100 : 1;
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE); // no seams between the steps
    for (int i = 0; i < steps; i++) {
        const double w = b->w / steps, h = b->h / steps;
        colour(most > 1 ? i / (steps - 1.0) : ALONE, rgb);
        cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
        if (level)
            cairo_rectangle(cr, b->x + w * i, b->y, w + 0.5, b->h);
        else
            cairo_rectangle(cr, b->x, b->y + h * (steps - 1 - i), b->w, h + 0.5);
        cairo_fill(cr);
    }
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_DEFAULT);
    cairo_set_source_rgb(cr, 0, 0, 0);
    cairo_rectangle(cr, b->x - 0.5, b->y - 0.5, b->w + 1, b->h + 1);
    cairo_stroke(cr);
    for (int64_t tick = 1; tick <= most; tick = next_tick(tick, most)) {
        const double share = most > 1 ? log_share(tick, most) : 0.5;
        const double x = level ? b->x + b->w * share : b->x + b->w, y = b->y + b->h * (level ? 1 : 1 - share);
        cairo_move_to(cr, x, y);
        cairo_line_to(cr, x + 6 * !level, y + 6 * level);
        cairo_stroke(cr);
        text_draw(cr, x + 11 * !level, y + 10 * level, 0.5 * level, 0.5 * !level, SMALL, tool_count_text(count, tick));
    }
    snprintf(text, sizeof text, "%.3g x %.3g", d->rows ? (double)d->m / (double)d->rows : 0,
             d->cols ? (double)d->n / (double)d->cols : 0);
    if (level) {
        char line[96];
        snprintf(line, sizeof line, "entries of %s places", text);
        text_draw(cr, b->x, b->y - 14, 0, 0.5, SMALL, line);
    } else {
        text_draw(cr, b->x, b->y - 34, 0, 0.5, SMALL, "entries of");
        text_draw(cr, b->x, b->y - 15, 0, 0.5, SMALL, text);
    }
}

// ---- maps ------------------------------------------------------------------------------------------------------

static int64_t density_most(const struct weft_density *d)
{
    int64_t most = 1;
    for (int64_t i = 0; i < d->rows * d->cols; i++)
        most = d->count[i] > most ? d->count[i] : most;
    return most;
}

// The counts as an image with a pixel for each unit of the scaled picture; a bucket fills whole pixels.
static void map_draw(cairo_t *cr, const struct box *b, const struct weft_density *d, double scale, int64_t most)
{
    const int width = (int)fmax(1, round(b->w * scale)), height = (int)fmax(1, round(b->h * scale));
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    if (cairo_surface_status(image)) {
        cairo_surface_destroy(image);
        return;
    }
    unsigned char *data = cairo_image_surface_get_data(image);
    const int stride = cairo_image_surface_get_stride(image);
    cairo_surface_flush(image);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            uint32_t pixel = 0xffffff;
            const int64_t count =
                d->rows && d->cols ? d->count[y * d->rows / height * d->cols + x * d->cols / width] : 0;
            if (count) {
                double rgb[3];
                colour(log_share(count, most), rgb);
                pixel = (uint32_t)(rgb[0] * 255 + 0.5) << 16 | (uint32_t)(rgb[1] * 255 + 0.5) << 8 |
                        (uint32_t)(rgb[2] * 255 + 0.5);
            }
            memcpy(data + (size_t)y * (size_t)stride + (size_t)x * 4, &pixel, sizeof pixel);
        }
    cairo_surface_mark_dirty(image);
    cairo_save(cr);
    cairo_translate(cr, b->x, b->y);
    cairo_scale(cr, b->w / width, b->h / height);
    cairo_set_source_surface(cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(image);
}

// The largest box of the proportions of the matrix, none steeper than 1 to 4, in w x h.
static struct box fit(double w, double h, int64_t m, int64_t n)
{
    const double aspect = fmin(fmax((double)(n + 1) / (double)(m + 1), 0.25), 4);
    return aspect > w / h ? (struct box){0, 0, w, w / aspect} : (struct box){0, 0, h * aspect, h};
}

// Buckets that fill a box: a matrix with fewer rows than pixels has a bucket a row.
static void buckets(int64_t *rows, int64_t *cols, const struct box *b, double scale, int64_t m, int64_t n)
{
    const int64_t height = (int64_t)fmax(1, round(b->h * scale)), width = (int64_t)fmax(1, round(b->w * scale));
    *rows = m < 1 ? 1 : m < height ? m : height;
    *cols = n < 1 ? 1 : n < width ? n : width;
}

// weft spy: margins for row numbers, heading, column numbers and the bar of colours.
#define LEFT   110.0
#define TOP    100.0
#define RIGHT  130.0
#define BOTTOM 70.0

static struct box spy_box(int64_t m, int64_t n, double *w, double *h)
{
    struct box b = fit(UNITS - LEFT - RIGHT, UNITS - TOP - BOTTOM, m, n);
    b.x = LEFT;
    b.y = TOP;
    *w = fmax(b.w + LEFT + RIGHT, 700); // the heading has room in a narrow picture
    *h = b.h + TOP + BOTTOM;
    return b;
}

void picture_spy_buckets(int64_t *rows, int64_t *cols, int size, int64_t m, int64_t n)
{
    double w, h;
    const struct box b = spy_box(m, n, &w, &h);
    buckets(rows, cols, &b, size / fmax(w, h), m, n);
}

int picture_spy(const struct picture *p, const struct weft_density *d)
{
    struct canvas c;
    double w, h;
    const struct box b = spy_box(d->m, d->n, &w, &h);
    const int64_t most = density_most(d);
    canvas_begin(&c, p, w, h);
    heading_draw(c.cr, p);
    map_draw(c.cr, &b, d, p->size / fmax(w, h), most);
    axes_draw(c.cr, &b, d->m, d->n);
    const double bar = most > 1 ? fmin(300, b.h - 50) : 22;
    bar_draw(c.cr, &(struct box){b.x + b.w + 28, b.y + 46, 22, bar}, most, d);
    return canvas_end(&c, p);
}

// weft entropy: on the left the map with its histograms, on the right the parts, all square whatever the matrix.
#define MAP       580.0
#define HISTOGRAM 90.0
#define PARTS     375.0
#define HEIGHT    900.0

static const struct box map_box = {LEFT, TOP + HISTOGRAM + 15, MAP, MAP};

void picture_map_buckets(int64_t *rows, int64_t *cols, int size, int64_t m, int64_t n)
{
    buckets(rows, cols, &map_box, size / UNITS, m, n);
}

// Bars from the frame of the map outwards: of columns upwards, of rows to the right; their longest fills the room. A bar is as
// many rows or columns as a pixel has, so what is said is the longest row or column, not the longest bar.
static void histogram_draw(cairo_t *cr, const struct box *b, const int64_t *count, int64_t size, int of_rows,
                           int64_t longest)
{
    int64_t most = 1;
    char text[32];
    double rgb[3];
    for (int64_t i = 0; i < size; i++)
        most = count[i] > most ? count[i] : most;
    colour(0.4, rgb);
    cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
    for (int64_t i = 0; i < size; i++) {
        const double at = (double)i / (double)size, length = (HISTOGRAM - 5) * (double)count[i] / (double)most;
        if (of_rows)
            cairo_rectangle(cr, b->x + b->w + 5, b->y + at * b->h, length, b->h / (double)size);
        else
            cairo_rectangle(cr, b->x + at * b->w, b->y - 5 - length, b->w / (double)size, length);
    }
    cairo_fill(cr);
    cairo_set_source_rgb(cr, 0, 0, 0);
    if (longest < 0)
        return;
    tool_count_text(text, longest);
    if (of_rows) {
        text_draw(cr, b->x + b->w + 5, b->y - 32, 0, 0.5, SMALL, "longest row");
        text_draw(cr, b->x + b->w + 5, b->y - 14, 0, 0.5, SMALL, text);
    } else {
        text_draw(cr, b->x - 11, b->y - HISTOGRAM, 1, 0.5, SMALL, "longest");
        text_draw(cr, b->x - 11, b->y - HISTOGRAM + 18, 1, 0.5, SMALL, "column");
        text_draw(cr, b->x - 11, b->y - HISTOGRAM + 36, 1, 0.5, SMALL, text);
    }
}

// parts x parts shares, each with its number.
static void parts_draw(cairo_t *cr, const struct box *b, const double *share, int parts)
{
    double most = 0;
    char text[32];
    for (int i = 0; i < parts * parts; i++)
        most = fmax(most, share[i]);
    snprintf(text, sizeof text, "%d x %d", parts, parts);
    cairo_set_source_rgb(cr, 0, 0, 0);
    text_draw(cr, b->x, b->y - 14, 0, 0.5, SMALL, text);
    for (int i = 0; i < parts * parts; i++) {
        const double w = b->w / parts, h = b->h / parts, x = b->x + i % parts * w, y = b->y + i / parts * h;
        double rgb[3] = {1, 1, 1};
        if (share[i] > 0)
            colour(share[i] / most * 0.9, rgb);
        cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
        cairo_rectangle(cr, x, y, w, h);
        cairo_fill(cr);
        const double light = share[i] / (most > 0 ? most : 1) < 0.35 ? 0 : 1;
        cairo_set_source_rgb(cr, light, light, light);
        snprintf(text, sizeof text, "%.2f", share[i]);
        text_draw(cr, x + w / 2, y + h / 2, 0.5, 0.5, fmin(SMALL, w * 0.37), text);
    }
    cairo_set_source_rgb(cr, 0, 0, 0);
    cairo_rectangle(cr, b->x - 0.5, b->y - 0.5, b->w + 1, b->h + 1);
    cairo_stroke(cr);
}

int picture_entropy(const struct picture *p, const struct weft_density *d, const double *const parts[3])
{
    struct canvas c;
    const struct box b = map_box;
    const int64_t most = density_most(d);
    canvas_begin(&c, p, UNITS, HEIGHT);
    heading_draw(c.cr, p);
    map_draw(c.cr, &b, d, p->size / UNITS, most);
    axes_draw(c.cr, &b, d->m, d->n);
    histogram_draw(c.cr, &b, d->col, d->cols, 0, p->longest_col);
    histogram_draw(c.cr, &b, d->row, d->rows, 1, p->longest_row);
    const double x = UNITS - PARTS - 15, y = TOP + 72, half = (PARTS - 20) / 2;
    text_draw(c.cr, x, TOP + 20, 0, 0.5, TEXT, "shares of H of the parts of the matrix");
    parts_draw(c.cr, &(struct box){x, y, half, half}, parts[0], 2);
    parts_draw(c.cr, &(struct box){x + half + 20, y, half, half}, parts[1], 4);
    parts_draw(c.cr, &(struct box){x, y + half + 45, PARTS, PARTS}, parts[2], 8);
    bar_draw(c.cr, &(struct box){x, y + half + PARTS + 85, PARTS - 25, 22}, most, d); // room for the last number
    return canvas_end(&c, p);
}
