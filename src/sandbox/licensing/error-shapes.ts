import { namesIn } from '../../core/table-names.ts';
interface ErrorShape {
  readonly means: string;
  readonly body: (reason: string) => unknown;
}

/** Every form of an error under status 200 that can be asked for; `sandbox serve --help` and the manual show them. */
export const errorShapes = {
  detail: shape('detail', (detail) => ({ detail })),
  'error-results': shape('error beside an empty array results', (error) => ({ error, results: [] })),
  'errors-data': shape('errors beside an empty array data', (reason) => ({ data: [], errors: [reason] })),
  'success-items': shape('success false beside an empty array items', () => ({ success: false, items: [] })),
  'status-licenses': shape('status error beside an empty array licenses', (message) => ({
    ...{ status: 'error', message, licenses: [] },
  })),
  'result-failed': shape('result failed beside a reason', (reason) => ({ result: 'failed', reason })),
  'non-field-errors': shape('non_field_errors alone', (reason) => ({ non_field_errors: [reason] })),
  'code-number': shape('error beside the code 403', (error) => ({ code: 403, error })),
  'code-word': shape('a message beside the code BAD_REQUEST', (message) => ({ code: 'BAD_REQUEST', message })),
  'request-id': shape('error beside a request_id', (error) => ({ error, request_id: 'req-7f3a' })),
  text: { means: 'a JSON string', body: (reason) => reason },
} as const satisfies Readonly<Record<string, ErrorShape>>;

export type ErrorShapeName = keyof typeof errorShapes;

export const errorShapeNames = namesIn(errorShapes);

/** The body that says this reason; without a name the form that Django REST framework has. */
export function errorBody(reason: string, name: ErrorShapeName = 'detail'): unknown {
  return errorShapes[name].body(reason);
}

function shape(means: string, body: ErrorShape['body']): ErrorShape {
  return { means: `an object with ${means}`, body };
}
