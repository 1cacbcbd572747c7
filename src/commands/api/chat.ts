import { command } from '../command.ts';
import { printed, rawArguments, rawOptions, rawRequest, rawRules } from './raw-command.ts';

export default command({
  name: 'api chat',
  summary: 'Send any request to the chat API',
  about: [
    ...rawRules,
    'The path is below /api/v1, which may be left out. A body is a form. A GET is repeated after a failure of the network; any other ' +
      'request only where the server certainly did nothing. There are no pages to follow: messages fetch --all reads them all.',
  ],
  args: rawArguments,
  options: rawOptions,
  examples: [
    'chatelaine api chat GET messages -F anchor=1451 -F num_before=5 -F num_after=0',
    'chatelaine api chat PATCH navigation_views/inbox -F is_pinned=true',
  ],

  writes: true,

  async *run(values, context) {
    const request = await rawRequest('chat', values, context);
    yield* printed(context.raw('chat').one(request), values, context);
  },

  show: { text: true, filterable: true },
});
