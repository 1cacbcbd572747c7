import { countField, textField, type Fields } from '../../schema/field.ts';
import type { GlobalValues } from '../context.ts';

export const folderArgument = { required: true, ...textField('DIR', 'Folder of the archive') } as const;

export const foldersArgument = { ...folderArgument, help: 'Folder of the archive, or of several archives' } as const;

/** As much as a server takes by default is less. */
const defaultMegabytes = 100;

/** The option that limits the attached files that are kept; its value is that of `maxFileBytes`. */
export const fileSizeOption = {
  max_file_size: countField(
    'MB',
    `With --files: the largest file that is kept, in megabytes (default: ${defaultMegabytes})`,
  ),
} as const satisfies Fields;

export function maxFileBytes(megabytes = defaultMegabytes): number {
  return megabytes * 1_000_000;
}

/** The site of what the embedded sandbox has: its port is another one in each run. */
export const embeddedSite = 'http://127.0.0.1';

/** The site of an archive and of what is recorded. */
export function lastingSite({ sandbox }: GlobalValues, site: string): string {
  return sandbox ? embeddedSite : site;
}
