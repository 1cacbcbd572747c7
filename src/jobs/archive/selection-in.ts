import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import type { MessageSelection, Range } from '../messages/selection.ts';

/**
 * What an archive selects (docs/archive-format.md, Manifest).
 * @throws Failure config where archive.json does not say it
 */
export function selectionIn({ selection }: Pick<ArchiveHead, 'selection'>): MessageSelection {
  if (isSelection(selection)) return selection;
  throw new Failure('config', 'archive.json holds no selection', {
    hint: 'Put archive.json back from a copy, or pull into another folder.',
  });
}

function isSelection(value: unknown): value is MessageSelection {
  if (!isObject(value) || !isObject(value['range'])) return false;
  const { kind } = value['range'];
  return Array.isArray(value['narrow']) && isObject(value['form']) && rangeKinds.some((known) => known === kind);
}

const rangeKinds = ['request', 'ids', 'newest', 'pages', 'times'] as const satisfies readonly Range['kind'][];
