#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages and completions, from the tables of options that the programs print and from the public headers.

pages.py man1 PROGRAM OUT           PROGRAM(1)
pages.py script FILE.py NAME VERSION OUT   NAME(1), from what the script says of itself
pages.py man3 HEADER VERSION OUT    weft_HEADER(3), from the comments of the header
pages.py bash|zsh|fish OUT PROGRAM...
"""
import ast
import datetime
import os
import re
import subprocess
import sys

ABOUT = {"weft": "look at sparse matrices, rearrange them, multiply with them",
         "weft-bench": "time sparse operations on every device and backend"}
SEVERAL = {"op", "backend", "algo", "type", "orders"}  # of weft-bench: lists with commas


class Option:
    def __init__(self, name, brief, argument, optional, group, text):
        self.name, self.brief, self.argument, self.optional = name, brief, argument, optional
        self.group, self.text, self.words = group, text.replace("\\n", "\n"), []


class Command:
    def __init__(self, name="", words="", line="", text=""):
        self.name, self.words, self.line, self.text = name, words, line, text.replace("\\n", "\n")
        self.options = []


class Program:
    """What PROGRAM --options prints: host/common/word.h."""

    def __init__(self, path):
        self.commands = [Command()]
        for line in subprocess.run([path, "--options"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
            kind, *fields = line.split("\t")
            if kind == "program":
                self.name, self.version = fields
            elif kind == "command":
                self.commands.append(Command(*fields))
            elif kind == "option":
                self.commands[-1].options.append(Option(*fields))
            else:
                self.commands[-1].options[-1].words.append(fields)
        self.usage = subprocess.run([path, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout


# ---- manual pages ----------------------------------------------------------------------------------------------

def roff(text):
    """A line as text: no escapes, hyphens that can be copied, no control character in front."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq").replace("^", "\\(ha")
    text = text.replace("~", "\\(ti")
    return "\\&" + text if text.startswith((".", "'")) else text


def joined(text):
    return roff(" ".join(text.split()))


def title(name, section, version):
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    day = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc) if epoch else datetime.datetime.now()
    return [".\\\" SPDX-License-Identifier: Apache-2.0",
            f".TH {roff(name.upper())} {section} {day:%Y-%m-%d} \"weft {version}\" \"weft\""]


def option_page(option):
    head = (f"\\-{option.brief}, " if option.brief else "") + f"\\-\\-{roff(option.name)}"
    head += f" {roff(option.argument)}" if option.argument else ""
    lines = [".TP", f".B {head}", joined(option.text) or "(see " + "\\-\\-help)"]
    if option.words:
        lines += [".br", "Words: " + roff(", ".join(word for word, _ in option.words)) + "."]
    return lines


def man1(path):
    program = Program(path)
    out = title(program.name, 1, program.version) + [".SH NAME", f"{roff(program.name)} \\- {ABOUT[program.name]}"]
    out += [".SH SYNOPSIS", ".nf"]
    first = program.usage.split("\n\n")[0].splitlines()
    commands = program.commands[1:]
    out += [roff(f"weft {c.name} [options] {c.words}".rstrip()) for c in commands] or [roff(line) for line in first]
    out += [".fi", ".SH DESCRIPTION"]
    out += [joined(block) + "\n.PP" for block in program.usage.split("\n\n")[-2 if commands else 1:-1]][:1]
    out[-1] = out[-1].replace("\n.PP", "")
    for command in commands:
        out += [f".SH \"{roff(command.name.upper())}\"", joined(command.text)]
        for option in command.options:
            out += option_page(option)
    if not commands:
        groups = [o.group for o in program.commands[0].options if o.group]
        for option in program.commands[0].options:
            if option.group in groups and option.group:
                out.append(f".SH \"{roff(option.group.upper())}\"")
            out += option_page(option)
    out += [".SH EXIT STATUS", "0 done and every result right; 1 a result was wrong; 2 bad usage, or a file that cannot be read or",
            "written; 3 device or driver failed.",
            ".SH ENVIRONMENT", ".TP", ".B WEFT_DEVICE", "The device, where no option says it.", ".TP", ".B WEFT_TUNE",
            "The file of tuning values; default ~/.config/weft/tune.tsv.".replace("~", "\\(ti"),
            ".SH SEE ALSO", ".BR weft (1)," if program.name != "weft" else ".BR weft\\-bench (1),", ".BR weft_weft (3)"]
    return out


def script(path, name, version):
    """The first line of the docstring as the name, the rest as it stands."""
    with open(path, encoding="utf-8") as file:
        text = ast.get_docstring(ast.parse(file.read()))
    text = re.sub(r"\S*" + re.escape(os.path.basename(path)), name, text)
    first, _, rest = text.partition("\n")
    first = re.sub("^" + name + r" FILE\.\.\.: ", "", first).rstrip(".")
    out = title(name, 1, version) + [".SH NAME", f"{roff(name)} \\- {roff(first[0].lower() + first[1:])}", ".SH SYNOPSIS",
                                     f".B {roff(name)} FILE...", ".SH DESCRIPTION", ".nf"]
    return out + [roff(line) for line in rest.strip("\n").splitlines()] + [".fi", ".SH SEE ALSO", ".BR weft\\-bench (1)"]


def man3(header, version):
    """The comments of a header as paragraphs, its declarations as they stand."""
    name = os.path.basename(header)[:-2]
    with open(header, encoding="utf-8") as file:
        lines = file.read().splitlines()
    purpose = lines[1][3:].rstrip(".")
    out = title("weft_" + name, 3, version)
    out += [".SH NAME", f"weft_{name} \\- {roff(purpose[0].lower() + purpose[1:])}", ".SH SYNOPSIS", f".B #include <weft/{name}.h>",
            ".PP", roff(f"Link with {'-lweft-io' if name == 'mtx' else '-lweft'} (pkg-config {'weft-io' if name == 'mtx' else 'weft'})."),
            ".SH DESCRIPTION"]
    body = [line for line in lines[2:] if not re.match(r"#(if|endif|ifn?def|include|define WEFT_\w+_H$)|extern \"C\" \{|^\}$", line)]
    comment, code = [], []

    def flush():
        if comment:
            out.append(joined(" ".join(comment)))
            out.append(".PP")
            comment.clear()
        if code:
            out.extend([".nf", *[roff(line) if line else "" for line in code], ".fi", ".PP"])
            code.clear()

    for line in body:
        if line.startswith("// ----"):
            flush()
            out.append(f".SS \"{roff(line.strip('/ -'))}\"")
        elif line.startswith("//"):
            if code:
                flush()
            # lines that are set in, and headwords, stand alone
            text = line[3:] if line.startswith("// ") else ""
            if not text or text.startswith("  ") or re.match(r"(Errors|Blocks|Moves|Threads|Repeatable):", text):
                if comment and text and not text.startswith("      "):
                    out.append(joined(" ".join(comment)))
                    out.append(".br")
                    comment.clear()
            if text:
                comment.append(text)
        elif line.strip():
            if comment:
                flush()
            code.append(line.replace("WEFT_API ", ""))
        elif not code or code[-1].endswith((";", "}", ")")):
            flush()
    flush()
    while out[-1] in (".PP", ".br"):
        out.pop()
    out += [".SH SEE ALSO", ".BR weft (1)" if name == "weft" else ".BR weft_weft (3)"]
    tidy = []
    for line in out:  # no paragraph break behind a head or another break
        if line in (".PP", ".br") and tidy and tidy[-1].startswith((".PP", ".SH", ".SS", ".br")):
            continue
        if line.startswith((".SH", ".SS")) and tidy and tidy[-1] == ".PP":
            tidy.pop()
        tidy.append(line)
    return tidy


# ---- completions -----------------------------------------------------------------------------------------------

def words_of(option):
    return " ".join(word for word, _ in option.words)


def bash(programs):
    out = ["# SPDX-License-Identifier: Apache-2.0", "# Completion of weft and weft-bench for bash, made from their tables of options.",
           "_weft_words() # LIST WORD [commas]: the words of LIST that go on with WORD, or with what stands behind its last comma",
           "{", "    local before=''", "    if [[ -n ${3:-} && $2 == *,* ]]; then before=${2%,*},; fi",
           "    mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$1\" -- \"${2#\"$before\"}\")", "}"]
    for program in programs:
        fun = "_" + program.name.replace("-", "_")
        out += [f"{fun}()", "{", "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=''",
                "    COMPREPLY=()"]
        named = [c for c in program.commands if c.name]
        if named:
            out += ["    if ((COMP_CWORD == 1)); then",
                    f"        _weft_words '{' '.join(c.name for c in named)} help --version' \"$word\"", "        return", "    fi",
                    "    command=${COMP_WORDS[1]}",
                    "    if [[ $command == help ]]; then", f"        _weft_words '{' '.join(c.name for c in named)}' \"$word\"",
                    "        return", "    fi"]
        out.append("    case $command:$before in")
        for command in program.commands:
            for option in command.options:
                if not option.argument or option.optional:
                    continue
                names = f"{command.name}:--{option.name}" + (f"|{command.name}:-{option.brief}" if option.brief else "")
                commas = " commas" if program.name == "weft-bench" and option.name in SEVERAL else ""
                if option.words:
                    act = f"_weft_words '{words_of(option)}' \"$word\"{commas}"
                elif option.argument in ("FILE", "PICTURE"):
                    act = "mapfile -t COMPREPLY < <(compgen -f -- \"$word\")"
                else:
                    act = ":"
                out.append(f"    {names}) {act}; return ;;")
        out += ["    esac", "    if [[ $word == -* ]]; then", "        case $command in"]
        for command in program.commands:
            if command.options:
                out.append(f"        {command.name or chr(39) * 2}) _weft_words '"
                           f"{' '.join('--' + n for n in dict.fromkeys(o.name for o in command.options))} --help' \"$word\" ;;")
        out += ["        esac", "    else", "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")", "    fi", "}",
                f"complete -o filenames -F {fun} {program.name}"]
    return out


def quoted(text):
    return text.replace("'", "").replace("[", "(").replace("]", ")").replace(":", ";").replace("`", "")


def brief_text(option):
    return quoted(" ".join(option.text.split())[:70])


def zsh_options(command, program):
    out = []
    for option in command.options:
        kind = ""
        if option.argument:
            act = f"({words_of(option)})" if option.words else "_files" if option.argument in ("FILE", "PICTURE") else " "
            if program.name == "weft-bench" and option.name in SEVERAL and option.words:
                act = f"_values -s , {option.name} {words_of(option)}"
            kind = f"{':' if option.optional else ''}:{quoted(option.argument)}:{act}"
        for name in [f"--{option.name}"] + ([f"-{option.brief}"] if option.brief else []):
            out.append(f"'{name}[{brief_text(option)}]{kind}'")
    return out


def zsh(programs):
    out = ["#compdef " + " ".join(p.name for p in programs), "# SPDX-License-Identifier: Apache-2.0",
           "# Completion of weft and weft-bench for zsh, made from their tables of options."]
    for program in programs:
        fun = "_" + program.name.replace("-", "_") + "_all"
        out += [f"{fun}() {{"]
        named = [c for c in program.commands if c.name]
        if named:
            out += ["  if (( CURRENT == 2 )); then", "    local -a commands", "    commands=("]
            out += [f"      '{c.name}:{quoted(c.line)}'" for c in named]
            out += ["      'help:explain a command'", "    )", "    _describe command commands", "    return", "  fi",
                    "  local command=$words[2]", "  shift words", "  (( CURRENT-- ))", "  case $command in"]
            for command in named:
                out += [f"  {command.name})", "    _arguments \\", *[f"      {o} \\" for o in zsh_options(command, program)],
                        "      '*:file:_files' ;;"]
            out += [f"  help) _values command {' '.join(c.name for c in named)} ;;", "  esac"]
        else:
            out += ["  _arguments \\", *[f"    {o} \\" for o in zsh_options(program.commands[0], program)], "    '*:file:_files'"]
        out += ["}"]
    out += ["case $service in", *[f"{p.name}) _{p.name.replace('-', '_')}_all \"$@\" ;;" for p in programs], "esac"]
    return out


def fish(programs):
    out = ["# SPDX-License-Identifier: Apache-2.0", "# Completion of weft and weft-bench for fish, made from their tables of options."]
    for program in programs:
        named = [c.name for c in program.commands if c.name]
        for command in program.commands:
            when = ""
            if command.name:
                out.append(f"complete -c {program.name} -n __fish_use_subcommand -f -a {command.name} -d '{quoted(command.line)}'")
                when = f" -n '__fish_seen_subcommand_from {command.name}'"
            for option in command.options:
                kind = ""
                if option.argument and not option.optional:
                    kind = " -r" if option.argument in ("FILE", "PICTURE") else " -x"
                    kind += f" -a '{words_of(option)}'" if option.words else ""
                out.append(f"complete -c {program.name}{when} -l {option.name}" +
                           (f" -s {option.brief}" if option.brief else "") + kind + f" -d '{brief_text(option)}'")
        if named:
            out.append(f"complete -c {program.name} -n __fish_use_subcommand -f -a help -d 'explain a command'")
            out.append(f"complete -c {program.name} -n '__fish_seen_subcommand_from help' -f -a '{' '.join(named)}'")
    return out


def main(what, *args):
    if what == "man1":
        out, lines = args[1], man1(args[0])
    elif what == "script":
        out, lines = args[3], script(*args[:3])
    elif what == "man3":
        out, lines = args[2], man3(args[0], args[1])
    else:
        out, lines = args[0], {"bash": bash, "zsh": zsh, "fish": fish}[what]([Program(path) for path in args[1:]])
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
