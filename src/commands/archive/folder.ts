import { usage } from '../../core/failure.ts';
import { textField, type Fields } from '../../schema/field.ts';
import type { GlobalValues } from '../context.ts';

export const folderArgument = { required: true, ...textField('DIR', 'Folder of the archive') } as const;

export const foldersArgument = { ...folderArgument, help: 'Folder of the archive, or of several archives' } as const;

/** Limits the size of each attached file that is kept. Servers accept only files smaller than the default. */
export const fileSizeOption = {
  max_file_size: {
    ...textField('SIZE', 'With --files: the largest file that is kept, such as 500KB or 2GB (default: 100MB)'),
    read: (text) => {
      maxFileBytes(text);
      return text;
    },
  },
} as const satisfies Fields;

const defaultBytes = 100_000_000;

/** @throws Failure usage */
export function maxFileBytes(size?: string): number {
  if (size === undefined) return defaultBytes;
  const [, count, unit = ''] = /^(\d{1,6})([KMG])B$/.exec(size.toUpperCase()) ?? [];
  const bytes = Number(count) * 1000 ** ' KMG'.indexOf(unit);
  if (!(bytes > 0)) throw usage(`'${size}' is not a size`, 'Write a number and KB, MB or GB: 100MB.');
  return bytes;
}

/** The site as archives and records name it: without the port of the embedded sandbox, which changes each run. */
export function lastingSite({ sandbox }: GlobalValues, site: string): string {
  return sandbox ? 'http://127.0.0.1' : site;
}
