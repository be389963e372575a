/*
 * The command `completion` prints the scripts that call `shootctl __complete` while the user types. The
 * scripts contain nothing from the table of commands, so that an old script works with a new program. The
 * scripts pass the words unchanged: no shell evaluates them again.
 */
#include "cli/verbs/verb_completion.h"

#include <string.h>

#include "base/attrs.h"
#include "base/near_word.h"
#include "base/text.h"
#include "cli/shootctl.h"
#include "cli/verbs/verbs.h"

const char *const completion_shells[] = {"bash", "zsh", "fish", NULL};

/* bash splits words at = and : and replaces only the part after the last of them. */
static const char bash[] =
    "# bash completion for shootctl\n"
    "_shootctl() {\n"
    "    local line word cut command bits=0 tab=$'\\t' before=${COMP_LINE:0:COMP_POINT}\n"
    "    local -a words\n"
    "    read -ra words <<< \"$before\"\n"
    "    [[ $before == *[[:space:]] ]] && words+=('')\n"
    "    word=${words[${#words[@]} - 1]}\n"
    "    cut=${word%\"${word##*[=:]}\"}\n"
    "    command=${words[0]}\n"
    "    [[ $command == '~/'* ]] && command=$HOME${command:1}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "            :*) bits=${line#:} ;;\n"
    "            *) line=${line%%\"$tab\"*}; COMPREPLY+=(\"${line#\"$cut\"}\") ;;\n"
    "        esac\n"
    "    done < <(\"$command\" __complete -- \"${words[@]:1}\" 2>/dev/null)\n"
    "    ((bits & 4)) || compopt -o default 2>/dev/null\n"
    "}\n"
    "complete -F _shootctl shootctl\n";

static const char zsh[] =
    "#compdef shootctl\n"
    "_shootctl() {\n"
    "    local line command=${words[1]} bits=0 tab=$'\\t'\n"
    "    local -a candidates\n"
    "    [[ $command == '~/'* ]] && command=$HOME${command[2,-1]}\n"
    "    for line in \"${(@f)$(\"$command\" __complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
    "        case $line in\n"
    "            :*) bits=${line#:} ;;\n"
    "            *$tab*) candidates+=(\"${${line%%$tab*}//:/\\\\:}:${line#*$tab}\") ;;\n"
    "            ?*) candidates+=(\"${line//:/\\\\:}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (($#candidates)) && _describe shootctl candidates\n"
    "    ((bits & 4)) || _files\n"
    "}\n"
    "if [[ $funcstack[1] == _shootctl ]]; then\n"
    "    _shootctl \"$@\"\n"
    "else\n"
    "    compdef _shootctl shootctl\n"
    "fi\n";

static const char fish[] = "# fish completion for shootctl\n"
                           "function __shootctl_complete\n"
                           "    set -l words (commandline -opc) (commandline -ct)\n"
                           "    set -l command (string replace -r '^~/' \"$HOME/\" -- $words[1])\n"
                           "    for line in ($command __complete -- $words[2..-1] 2>/dev/null)\n"
                           "        switch $line\n"
                           "            case ':*'\n"
                           "                test (math \"bitand(\"(string sub -s 2 -- $line)\", 4)\") -eq 0; "
                           "and __fish_complete_path (commandline -ct)\n"
                           "            case '*'\n"
                           "                printf '%s\\n' $line\n"
                           "        end\n"
                           "    end\n"
                           "end\n"
                           "complete -c shootctl -f -a '(__shootctl_complete)'\n";

int verb_completion(struct cli *cli)
{
    static const char *const scripts[] = {bash, zsh, fish};
    const char *shell = cli->parsed->arguments[0];
    const int place = word_index(completion_shells, ARRAY_LEN(scripts), shell);
    if (place >= 0)
        return fputs(scripts[place], cli->out.file) < 0 ? END_REFUSED : END_OK;
    const char *near = nearest_word(shell, completion_shells, ARRAY_LEN(scripts));
    return cli_fail(END_USAGE, "there is no completion for '%s'; there is one for bash, zsh and fish%s%s%s",
                    shell, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}
