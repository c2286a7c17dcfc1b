import { endpointCommand, endpointList } from '../../registry/endpoint-command.ts'

const actor = 'owner of the sessions'

export const commands = {
  'sessions list': endpointList('listSessions', {
    description: 'List the browsers in which you are signed in, or as an administrator those of USER.',
    words: { '[USER]': 'username' },
    actor,
    rows: 'sessions',
    toLines: ({ id, openedBy, lastUsedAt, expiresAt }) =>
      `${id}  ${openedBy}  last used ${lastUsedAt}  ends by ${expiresAt}`,
  }),
  'sessions end': endpointCommand('endSession', {
    description: 'Sign a browser out at once, as an administrator also one of another user. API keys stay valid.',
    words: { ID: 'id' },
    actor,
    toResult: (_none, { id }) => ({ ended: id }),
    show: ({ ended }) => [`Ended ${ended}.`],
  }),
}
