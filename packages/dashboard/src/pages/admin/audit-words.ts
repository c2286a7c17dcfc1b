/** The words for what was acted on, by the first parts of the action's name. Other parts are used as they are. */
const things: Readonly<Record<string, string>> = {
  agent: 'an agent',
  appeal: 'an appeal',
  copy: 'a report of a copy',
  dmca: 'a takedown case',
  external: 'an external skill',
  identity: 'a user by the identity provider',
  key: 'an API key',
  mirror: 'an upstream',
  organisation: 'an organisation',
  'organisation.member': 'a member',
  'organisation.team': 'a team',
  outbox: 'a background job',
  quarantine: 'a quarantined version',
  rules: 'scan rules',
  scans: 'a scan of everything',
  'skill.collaborator': 'a collaborator',
  'skill.recall': 'a recall',
  'skill.transfer': 'a transfer',
  trust: 'CI jobs that publish',
}

/** The words for what was done, by the last part of the action's name. Other parts are used as they are. */
const verbs: Readonly<Record<string, string>> = {
  accept: 'accepted',
  add: 'added',
  approve: 'approved',
  cancel: 'cancelled',
  comment: 'commented on',
  create: 'created',
  delete: 'deleted',
  end: 'ended',
  follow: 'subscribed to',
  hidden: 'hid',
  in_progress: 'started',
  issue: 'issued',
  off: 'turned off',
  offer: 'offered',
  open: 'opened',
  'pass-on': 'passed on',
  policy: 'set the rules of',
  publish: 'published',
  put: 'set',
  quarantine: 'quarantined',
  recall: 'recalled versions of',
  refuse: 'refused',
  release: 'released',
  remove: 'removed',
  reset_token: 'reset the token of',
  retry: 'retried',
  review: 'reviewed',
  rotate: 'replaced',
  share: 'shared',
  'sign-in': 'signed in',
  shown: 'showed',
  start: 'started',
  stub: 'reserved the name of',
  sync: 'synced',
  under_review: 'reviews',
  unshare: 'ended the sharing of',
  unyank: 'restored',
  update: 'changed',
  use: 'first used',
  withdraw: 'withdrew',
  yank: 'yanked',
}

/** Actions whose words do not follow from the parts of their names. */
const wholes: Readonly<Record<string, string>> = {
  'identity.exchange': 'gave a key to a CI job',
  'identity.refuse-exchange': 'refused a key to a CI job',
}

/** The name of an audit action in words: `skill.publish` is `published a skill`. */
export function toActionWords(action: string): string {
  const parts = action.split('.')
  const verb = parts.pop()!
  const thing = parts.join('.')
  if (thing === '') return action
  if (wholes[action]) return wholes[action]
  return `${verbs[verb] ?? verb.replaceAll('_', ' ')} ${things[thing] ?? `a ${thing.replaceAll('.', ' ')}`}`
}
