import { expect, test } from 'vitest';
import { rosterLimits } from '../../../src/store/roster/limits.ts';
import { openZip } from '../../../src/store/roster/zip.ts';
import { zipOf } from '../../helpers/workbook.ts';
import { failureOf } from '../place.ts';

test('an entry that unpacks to more than it says is refused where it is too large', async () => {
  const limits = { ...rosterLimits, partBytes: 2 ** 20 };
  const zip = openZip(zipOf({ large: Buffer.alloc(2 ** 20 + 1) }, { says: { size: 10 } }), limits);
  const read = async () => {
    for await (const _piece of zip.read('large')) continue;
  };
  expect(await failureOf(read)).toMatchObject({
    kind: 'usage',
    message: 'a sheet, or the texts of all, is larger than 1 MiB',
  });
});
