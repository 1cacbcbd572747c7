import { Failure, usage } from '../../core/failure.ts';
import { jsonIn } from '../../core/json.ts';
import { maxRequestLine } from '../../schema/messages.ts';
import type { Call, Send } from '../http/call.ts';
import { queryOf } from '../http/request.ts';
import { partsOf } from './narrow-words.ts';

/** Calls whose URL servers do not take are refused, by their own answer too, naming what is long in it. */
export function withinUrl(send: Send): Send {
  return async (call) => {
    const bytes = `${call.path.sent}${queryOf(call)}`.length;
    const [name, chars] = longestPart(call);
    const part = `${name} has ${chars.toLocaleString('en')} characters`;
    const limit = maxRequestLine.toLocaleString('en');
    if (bytes > maxRequestLine)
      throw usage(
        `the request would be a URL of ${bytes.toLocaleString('en')} bytes, and servers take ${limit}: ${part}`,
      );
    const answer = await send(call);
    if (answer.status !== 414) return answer;
    const { method, status, url } = answer.http;
    const http = { method, status, url: url.replace(/\?.*/s, '') };
    throw new Failure('rejected', `a URL of ${bytes.toLocaleString('en')} bytes is too long for the server: ${part}`, {
      http,
    });
  };
}

/** Of a narrow, the operator. */
function longestPart({ path, query = [] }: Call): readonly [name: string, chars: number] {
  const parts = query.flatMap(([name, text]) =>
    name === 'narrow' ? termsIn(String(text)) : [[name, String(text)] as const],
  );
  const all = [['path', path.sent] as const, ...parts].map(([name, text]) => [name, text.length] as const);
  return all.reduce((longest, part) => (part[1] > longest[1] ? part : longest));
}

function termsIn(narrow: string): (readonly [string, string])[] {
  const terms = jsonIn(narrow)?.value;
  return (Array.isArray(terms) ? terms : []).map((term) => {
    const [operator, operand] = partsOf(term);
    return [String(operator), String(operand)] as const;
  });
}
