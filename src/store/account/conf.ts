import { basename, dirname } from 'node:path';
import Conf from 'conf';
import type { JsonObject } from '../../core/json.ts';

/** Writes a file, synced. conf does not look at how much was written: the caller checks the result. */
export function writeConf(path: string, content: JsonObject): void {
  const conf = new Conf<Record<string, unknown>>({
    projectName: 'chatelaine',
    projectSuffix: '',
    cwd: dirname(path),
    configName: basename(path),
    fileExtension: '',
    configFileMode: 0o600,
    clearInvalidConfig: false,
    accessPropertiesByDotNotation: false,
    serialize: confText,
  });
  conf.store = { ...content };
}

export function confText(content: JsonObject): string {
  return `${JSON.stringify(content, undefined, 2)}\n`;
}
