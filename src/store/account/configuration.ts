import { basename, dirname, join } from 'node:path';
import { readdir, realpath } from '../../core/outside.ts';
import { Failure } from '../../core/failure.ts';
import { isObject, jsonIn, type JsonObject } from '../../core/json.ts';
import { renaming } from '../../core/shell-word.ts';
import { ifThere, refuseNewer, remove, replace, storageFailure } from '../disk/files.ts';
import { readPrivate, makePrivateFolder, refuseUnsafeFolder } from '../disk/private.ts';
import { foldersOf } from '../disk/folders.ts';
import type { Surroundings } from '../lock/lock.ts';

type ConfigurationFile = 'config' | 'credentials';

const fileVersion = 1;

/** Reads a file, without a lock; empty where it is missing. @throws Failure config if unsafe, or no JSON of ours */
export async function readConfiguration(file: ConfigurationFile, host: Surroundings): Promise<JsonObject> {
  await refuseUnsafeFolder(foldersOf(host.system).config, host.system);
  const path = pathOf(file, host);
  const text = await readPrivate(path, host.system, file === 'credentials' ? 0o077 : 0o022);
  if (text === undefined) return {};
  const content = jsonIn(text)?.value;
  if (!isObject(content))
    throw new Failure('config', `${path} is not a JSON object`, {
      hint: `Repair it, or move it away and sign in again: ${renaming(path, `${path}.broken`)}`,
    });
  refuseNewer(path, content['version'], fileVersion);
  return content;
}

/** Keys that this version does not know are kept when a file is written again. */
export interface Files {
  read(file: ConfigurationFile): Promise<JsonObject>;
  write(file: ConfigurationFile, content: JsonObject): Promise<void>;
}

/** Does the work under a lock beside the files: state folders may differ. @throws Failure config, unavailable */
export async function changeConfiguration(host: Surroundings, work: (files: Files) => Promise<void>): Promise<void> {
  const [{ writeConf, confText }, { withLock }] = [await import('./conf.ts'), await import('../lock/lock.ts')];
  const folder = foldersOf(host.system).config;
  await refuseUnsafeFolder(folder, host.system);
  await makePrivateFolder(folder, host.system);
  const write = async (file: ConfigurationFile, changed: JsonObject): Promise<void> => {
    const content = { version: fileVersion, ...changed };
    const path = pathOf(file, host);
    const target = await targetOf(path);
    const draft = `${target}.new`;
    try {
      writeConf(draft, content);
      const isWhole = (await readPrivate(draft, host.system)) === confText(content);
      if (isWhole) await replace(draft, target);
      if (isWhole) return;
    } catch (cause) {
      throw storageFailure(`cannot write ${path}`, cause);
    }
    await remove(draft);
    throw new Failure('unavailable', `cannot write all of ${path}; the old file is unchanged`, {
      hint: 'Free some disk space, then run the same command again.',
    });
  };
  const change = async (): Promise<void> => {
    for (const file of ['config', 'credentials'] as const) await removeDrafts(pathOf(file, host));
    await work({ read: (file) => readConfiguration(file, host), write });
  };
  await withLock(join(folder, 'config.lock'), host, change, { what: 'the configuration' });
}

/** The file that a link means: the link stays. */
async function targetOf(path: string): Promise<string> {
  return (await ifThere(`read ${path}`, realpath(path))) ?? path;
}

const drafts = /^\.new(\.tmp-[0-9a-f]{16})?$/;

/** Removes drafts of a file, ours and conf's: under the lock they are a killed process's, and may hold a key. */
async function removeDrafts(path: string): Promise<void> {
  const target = await targetOf(path);
  const [folder, own] = [dirname(target), basename(target)];
  for (const name of (await ifThere(`read ${folder}`, readdir(folder))) ?? [])
    if (name.startsWith(own) && drafts.test(name.slice(own.length))) await remove(join(folder, name));
}

function pathOf(file: ConfigurationFile, { system }: Surroundings): string {
  return join(foldersOf(system).config, `${file}.json`);
}
