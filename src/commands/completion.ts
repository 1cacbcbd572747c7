import { namesIn } from '../core/table-names.ts';
import { command } from './command.ts';
import { completionScripts } from './completion-scripts.ts';

export default command({
  about: [
    'TAB then completes commands, options and their values, names and values of settings, stored profiles, operators of a narrow, ' +
      'built-in views, and files where a file is expected. It asks no server, and runs nothing of what you typed. Packages for an ' +
      'operating system install the scripts themselves.',
  ],
  input: {
    title: 'Installation',
    lines: [
      '# bash, in ~/.bashrc:',
      'source <(chatelaine completion bash)',
      '# zsh, in ~/.zshrc:',
      'source <(chatelaine completion zsh)',
      '# fish, in ~/.config/fish/config.fish:',
      'chatelaine completion fish | source',
    ],
  },
  args: {
    shell: {
      kind: 'string',
      required: true,
      choices: namesIn(completionScripts),
      placeholder: 'bash|zsh|fish',
      help: 'The shell',
    },
  },
  examples: ['chatelaine completion bash', 'chatelaine completion zsh', 'chatelaine completion fish'],

  async *run({ shell }) {
    yield completionScripts[shell];
  },

  result: 'text',
});
