import { rawCommand } from './raw-command.ts';

export default rawCommand('chat', {
  about:
    'The path is below /api/v1, which may be left out. A body is a form. A GET is repeated after a failure of the network; any other ' +
    'request only where the server certainly did nothing. --paginate follows GET messages in the direction of num_before or ' +
    'num_after, to the oldest or newest message; messages fetch --all also checks the pages and gives each message once.',
  examples: [
    'chatelaine api chat GET messages -F anchor=1451 -F num_before=5 -F num_after=0',
    'chatelaine api chat GET "messages?anchor=0&num_before=0&num_after=1000" --paginate --jq ".messages[].id"',
    'chatelaine api chat PATCH navigation_views/inbox -F is_pinned=true',
  ],
});
