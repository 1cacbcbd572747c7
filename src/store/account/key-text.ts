import type { Readable } from 'node:stream';
import { Failure, labelled, type FailureKind } from '../../core/failure.ts';
import { openInput, readStartText, readText, TooMuchInput } from '../../core/read.ts';
import { Secret } from '../../core/secret.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { System } from '../../core/system.ts';
import { refuseQuoted } from '../../schema/url.ts';
import { storageFailure } from '../disk/files.ts';
import { refuseUnsafe } from '../disk/private-file.ts';

/** A key from its text; `source` names where it is from. @throws Failure where it is empty or not for a header */
export function keyFrom(text: string, source: string, kind?: FailureKind): Secret {
  return new Secret(keyText(text, source, kind));
}

/** The text of a key without the blanks around it, which no header carries. @throws Failure as `keyFrom` */
export function keyText(text: string, source: string, kind: FailureKind = 'config'): string {
  const key = text.trim();
  if (key === '') throw new Failure(kind, `${source}: the key is empty`);
  labelled(source, () => refuseQuoted('the key', key), kind);
  if (/^[\x20-\x7e]+$/.test(key)) return key;
  throw new Failure(kind, `${source}: the key holds a character that cannot be sent`, {
    hint: 'A key is printable ASCII in one line; copy it again.',
  });
}

export function firstLine(text: string): string {
  return text.replace(/\r?\n[^]*$/, '');
}

/** More than any key: a file such as /dev/zero has no end. */
const maxBytes = 64 * 1024;

/** The key in the first line of a file. @throws as readSecretFile */
export async function readKeyFile(path: string, source: string, system: System, signal?: AbortSignal): Promise<Secret> {
  const text = await readSecretFile(path, source, system, signal, readStartText);
  return keyFrom(firstLine(text), `${source} (${path})`);
}

/**
 * A file of secrets that the user names. A regular one must be closed to others, but a mounted one of root's may be
 * open to its group (secrets of container platforms). @throws Failure config, or the signal's reason
 */
export async function readSecretFile(
  path: string,
  source: string,
  system: System,
  signal: AbortSignal = new AbortController().signal,
  read: typeof readStartText = readText,
): Promise<string> {
  let stream: Readable | undefined;
  try {
    const opened = await openInput(path);
    stream = opened.stream;
    const isMounted = opened.stats.uid === 0 && system.uid !== 0;
    const otherwise =
      `; or give a pipe: <(cat ${shellWord(path)}). Of a mounted secret, Kubernetes sets the mode with defaultMode: 0400 of the volume ` +
      'and fsGroup of the pod; docker and compose mount the mode and owner of the file on the host; swarm takes uid and mode: 0400.';
    const words = { what: `${source}: ${path}`, otherwise };
    if (opened.stats.isFile()) await refuseUnsafe(path, opened.stats, system, isMounted ? 0o007 : 0o077, words);
    return await read(stream, { signal, maxBytes });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (cause instanceof TooMuchInput)
      throw new Failure('config', `${source}: ${path} holds too much: ${cause.message}`);
    throw storageFailure(`${source}: cannot read ${path}`, cause);
  } finally {
    stream?.destroy();
  }
}
