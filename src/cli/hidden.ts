import password from '@inquirer/password';
import type { Input, Output } from './world.ts';

/** Asks for a text that is not echoed. Rejects with an error named …Prompt… on Ctrl-C and on a closed input. */
export function askHidden(message: string, input: Input, output: Output, signal: AbortSignal): Promise<string> {
  return password({ message, mask: false }, { input, output, signal, clearPromptOnDone: false });
}
