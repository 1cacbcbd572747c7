import { namesIn } from '../core/table-names.ts';

/** The part of JSON Schema that describes a result. */
export interface ResultSchema {
  readonly type?: JsonType | readonly JsonType[];
  readonly properties?: Readonly<Record<string, ResultSchema>>;
  readonly required?: readonly string[];
  readonly items?: ResultSchema;
  readonly anyOf?: readonly ResultSchema[];
}

type JsonType = 'string' | 'integer' | 'boolean' | 'object' | 'array' | 'null';

/** Types of our names wherever a result has them: a server's field has the server's type. Types stay. */
const types = {
  string:
    'advice api_key change channel check data detail error file finding finished first_time first_user folder fragment help host key kind ' +
    'last_time ledger mac_address name problem profile since state status subject target time title topic_name type until url value_name',
  integer:
    'added arrived back deleted edited files files_kept gone level messages moved part pid problems repaired saved_snippet_id sending stream_id unseen users version',
  boolean: 'default is_pinned read_only resolved',
  array: 'commands deeper exit_codes groups ids options spellings values',
  object: 'chat license licensing',
} as const;

/** Names that are null, or absent, where there is nothing to say; every other one of ours is in each row. */
const optional = new Set(
  (
    'advice api_key arrived back change deeper deleted detail edited error file files files_kept finished first_time first_user gone ids is_pinned key last_time ' +
    'level license moved name part pid problem sending since spellings state status time unseen until url users value value_before value_name values version'
  ).split(' '),
);

const typeOf = new Map(
  namesIn(types).flatMap((type) => types[type].split(' ').map((name): [string, JsonType] => [name, type])),
);

/** The row of a result that has these columns, and may have these other names. */
export function rowSchema(columns: readonly string[], others: readonly string[] = []): ResultSchema {
  const names = [...new Set([...columns, ...others])];
  const property = (name: string): ResultSchema => {
    const type = typeOf.get(name);
    if (type === undefined) return {};
    return { type: optional.has(name) ? [type, 'null'] : type };
  };
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, property(name)])),
    required: columns.filter((name) => typeOf.has(name) && !optional.has(name)),
  };
}
