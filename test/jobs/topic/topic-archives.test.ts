import { expect, test } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { closeAll, type TopicArchive } from '../../../src/jobs/topic/topic-archives.ts';

test('every archive is closed, though one cannot be; its failure is thrown then', async () => {
  const closed: string[] = [];
  const full = new Failure('unavailable', 'disk full');
  const close = (name: string) => () => {
    closed.push(name);
    return name === 'purge 1' ? Promise.reject(full) : Promise.resolve();
  };
  const archives = [1, 2].map((number) => ({
    archive: { close: close(`archive ${number}`) },
    purge: { close: close(`purge ${number}`) },
  }));

  await expect(closeAll(archives as unknown as readonly TopicArchive[])).rejects.toBe(full);
  expect(closed).toEqual(['purge 1', 'archive 1', 'purge 2', 'archive 2']);
});
