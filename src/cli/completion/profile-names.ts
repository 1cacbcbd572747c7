import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import { foldersOf } from '../../store/disk/folders.ts';

/** The names of the stored profiles; none where their file cannot be read. */
export function profileNames(): readonly string[] {
  const { config } = foldersOf({ env: process.env, platform: process.platform, home: homedir() });
  try {
    const content: unknown = JSON.parse(textOf(join(config, 'config.json')));
    return isObject(content) && isObject(content['profiles']) ? Object.keys(content['profiles']) : [];
  } catch {
    return [];
  }
}

/** A FIFO or a device in place of the file would hold the user's shell. */
function textOf(file: string): string {
  const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return fstatSync(opened).isFile() ? readFileSync(opened, 'utf8') : '';
  } finally {
    closeSync(opened);
  }
}
