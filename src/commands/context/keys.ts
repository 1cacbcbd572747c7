import type { Secret } from '../../core/secret.ts';

/** Where a new key comes from, and what removes known secrets from texts. */
export interface Keys {
  /** The key in the first line of a file that nobody else can read. */
  keyFromFile(file: string): Promise<Secret>;
  /** The key in the first line of standard input; what follows is not read. */
  keyFromInput(): Promise<Secret>;
  /** Runs a stored or a new key command. */
  runKeyCommand(command: string): Promise<Secret>;
  /** Whether other users can read that file; false where there is none. */
  othersCanRead(file: string): Promise<boolean>;
  /** Makes a secret of a text: from here on it is removed from everything that is shown. */
  hide(text: string): Secret;
  /** The words of a server for stdout, without any secret that this run knows. */
  clean(text: string): string;
}
