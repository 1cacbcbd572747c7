import { namesIn } from '../core/table-names.ts';
import { command } from './command.ts';

/**
 * One script for each shell. On TAB it runs `chatelaine __complete`: the first line says what the word can be (words,
 * files, folders), the other lines are the words. Nothing that the user typed is expanded or run.
 */
const completionScripts = {
  bash: `# Completion of chatelaine for bash, with and without the package bash-completion.
_chatelaine() {
  local line kind=
  COMPREPLY=()
  while IFS= read -r line; do
    if [ -z "$kind" ]; then kind=$line; else COMPREPLY+=("$line"); fi
  done < <(command chatelaine __complete bash "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  case $kind in
    files) compopt -o default ;;
    folders) compopt -o dirnames ;;
  esac 2>/dev/null
}
if type compopt >/dev/null 2>&1; then
  complete -F _chatelaine chatelaine
else # bash 3
  complete -o default -F _chatelaine chatelaine
fi
`,

  zsh: `#compdef chatelaine
# Completion of chatelaine for zsh: a function in a folder of fpath, or a file to source.
_chatelaine() {
  local kind
  local -a offers
  offers=("\${(@f)$(command chatelaine __complete zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  kind=$offers[1]
  shift offers
  case $kind in
    files|folders)
      [[ $PREFIX == --*=* ]] && { IPREFIX+=\${PREFIX%%=*}=; PREFIX=\${PREFIX#*=} }
      if [[ $kind == folders ]]; then _files -/; else _files; fi ;;
    words) (( $#offers )) && _describe -V chatelaine offers ;;
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _chatelaine "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
  compdef _chatelaine chatelaine
fi
`,

  fish: `# Completion of chatelaine for fish.
function __chatelaine_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l offers (command chatelaine __complete fish $words "$current" 2>/dev/null)
    set -l kind $offers[1]
    set -e offers[1]
    set -l prefix (string match -r '^--[a-z-]+=' -- "$current")
    set -l path (string replace -r '^--[a-z-]+=' '' -- "$current")
    switch "$kind"
        case files
            __fish_complete_path "$path" | string replace -r '^' -- "$prefix"
        case folders
            __fish_complete_directories "$path" | string replace -r '^' -- "$prefix"
        case '*'
            printf '%s\\n' $offers
    end
end
complete -c chatelaine -e
complete -c chatelaine -f -k -a '(__chatelaine_complete)'
`,

  // Windows PowerShell 5 drops empty arguments, so `=` precedes the word at the cursor. Where the script offers
  // nothing, PowerShell offers files.
  powershell: `# Completion of chatelaine for PowerShell.
Register-ArgumentCompleter -Native -CommandName chatelaine -ScriptBlock {
    param($word, $line, $cursor)
    $words = @($line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object {
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
    })
    $kind, $offers = @(chatelaine __complete powershell @words "=$word" 2>$null)
    if ($kind -eq 'files' -or $kind -eq 'folders') { return }
    foreach ($offer in $offers) {
        $text, $meaning = $offer -split "\`t", 2
        if (-not $meaning) { $meaning = $text }
        [System.Management.Automation.CompletionResult]::new($text, $text, 'ParameterValue', $meaning)
    }
}
`,
} as const;

export default command({
  about: [
    'TAB then completes commands, options and their values, stored profiles, and files where a file is expected. ' +
      'It never runs what you typed, and sends no request.',
  ],
  input: {
    title: 'Installation',
    lines: [
      '# bash, in ~/.bashrc:',
      'eval "$(chatelaine completion bash)"',
      '# zsh, in ~/.zshrc:',
      'source <(chatelaine completion zsh)',
      '# fish, in ~/.config/fish/config.fish:',
      'chatelaine completion fish | source',
      '# PowerShell, in the file that $PROFILE names:',
      'chatelaine completion powershell | Out-String | Invoke-Expression',
    ],
  },
  args: {
    shell: {
      kind: 'string',
      required: true,
      choices: namesIn(completionScripts),
      placeholder: 'bash|zsh|fish|powershell',
      help: 'The shell',
    },
  },
  examples: namesIn(completionScripts).map((shell) => `chatelaine completion ${shell}`),

  async *run({ shell }) {
    yield completionScripts[shell];
  },

  result: 'text',
});
