import { rawCommand } from './raw-command.ts';

export default rawCommand('licensing', {
  about:
    'The path is below /v1, which may be left out. A body is JSON. GET, PUT and PATCH are repeated after a failure of the network; POST ' +
    'and DELETE only where the server certainly did nothing. license ensure and license apply do not know of a license that this command created.',
  examples: [
    'chatelaine api licensing GET license/ -f remote_user=physio-7731',
    'chatelaine api licensing GET license/ --paginate --jq ".[].remote_user"',
    'chatelaine api licensing PATCH license/4f1c9a/ -F size_allowance=6 --dry-run',
  ],
});
