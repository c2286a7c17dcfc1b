/** A requirement of the interface specification, and the test that holds it: its file, and words of its title. */
export interface Requirement {
  readonly section: string
  readonly says: string
  readonly file: string
  readonly title: string
}

/** One line a requirement: what it says, the test file, words of the title of the test. */
const bySection: Record<string, readonly (readonly [says: string, file: string, title: string])[]> = {
  '2.1': [
    ['the fields of a skill in a list', 'api-search', 'lists everything public without words'],
    ['the name is what paths use, the full name has its owner', 'api-visibility', 'means the first public skill'],
    ['latestVersion has three parts', 'api-publish', 'is latest by its number'],
    ['downloads are counted', 'api-downloads', 'are counted for SKILL.md and the archive'],
    ['stars are counted', 'api-ownership', 'counts once a user, and is taken back once'],
    [
      'securityScore is that of the latest version',
      'api-security',
      'of each version by itself, and of the skill by its latest',
    ],
    ['verified: a verified author and a safe scan', 'api-security', 'with a verified author and a safe latest version'],
    ['publishedAt is ISO 8601 in UTC with milliseconds', 'api-read', 'shows the details of a skill'],
  ],
  '2.2': [
    ['the envelope counts and pages', 'api-search', 'has an empty page past the end, with the true total'],
    ['the envelope echoes the filters', 'api-search', 'filters by %j, echoes it'],
    ['stubs are left out by default, and a parameter brings them in', 'api-search', 'leaves stubs out unless'],
  ],
  '2.3': [
    ['an agent key is <platformId>:<instanceId>', 'api-agents', 'under keys of their platform'],
    [
      'an agent review has an agent key, a rating of 1 to 5 and a content',
      'api-agent-reviews',
      'no rating from one to five',
    ],
    [
      'a skill request has a title, a description and a status',
      'api-requests',
      'need a title, and take no other fields',
    ],
    ['an API key has an id and a name', 'api-accounts', 'is shown once, when it is made'],
    ['a heartbeat item has a skill name and a version', 'api-heartbeat', '%s %s %s: %o'],
    ['a copy report names the original and gives evidence', 'api-copies', 'name the original by its id'],
    ['a verification has a method and a proof', 'api-verification', 'answers with what to do, and a token'],
    ['an install has a source, agents and a repository', 'api-track', 'name a repository with the source github'],
    ['a scan takes an address or a content', 'api-external', 'by an address or a content and not both'],
  ],
  '2.4': [
    ['metadata has its ten fields', 'api-load', 'has the metadata of the specification, and nothing above its level'],
    ['contract, capabilities and a tool definition', 'api-load', 'adds contract, capabilities and a tool definition'],
    ['summary', 'api-load', 'adds the summary, and at full the document and all of its frontmatter'],
    ['version, by default the latest', 'api-load', 'is of the latest version, or of the one that is asked for'],
    ['maxTokens truncates to a budget', 'loading-truncate', 'never has more tokens than it, whatever the document'],
    ['priority names the sections to keep', 'loading-truncate', 'keeps the sections that are wanted before the others'],
  ],
  '3': [
    ['a request goes through its states', 'api-requests', 'from $from to $to by $role'],
    ['a verification is by github, domain or manual', 'api-verification', '$method, from $from to $to'],
    ['a skill can be deprecated', 'api-heartbeat', 'in a sentence that says what to do'],
    ['a takedown goes through its states', 'api-dmca', 'from $from to $to'],
    ['a delivery ends with a 2xx', 'api-webhooks-deliveries', 'are shown with every attempt and when the next is due'],
    ['a delivery fails with its fifth attempt', 'api-webhooks-deliveries', 'fail after five attempts at the times'],
    ['a failed delivery can be tried again', 'api-webhooks-deliveries', 'at once when they failed, with 202'],
  ],
  '4.1': [
    ['GET /skills searches, pages and sorts', 'api-search', 'sorts by %s, ties by full name'],
    ['a key is needed to see private skills only', 'api-visibility', 'no list, completion, category, pack or feed'],
    ['GET /skills/<name>', 'api-read', 'shows the details of a skill, with every field'],
    ['GET /skills/<name>/skill.md', 'api-read', 'serves SKILL.md as it was published, byte for byte'],
    ['PUT /skills publishes', 'api-publish', 'is made with 201; the same content again is 200'],
    ['PUT /skills updates', 'api-publish', 'updates the skill with 200 and makes no version'],
    ['POST /skills/<name>/fork', 'api-ownership', 'has the latest content and number under its own name'],
    [
      'GET /skills/<name>/agent-reviews by recent, helpful or rating_high',
      'api-agent-reviews',
      "'recent', 'helpful', 'rating_high'",
    ],
    ['POST /skills/<name>/agent-reviews', 'api-agent-reviews', 'the first registers an unknown agent'],
    ['POST /skills/<name>/report-copy', 'api-copies', 'answer 201 with the similarity'],
    ['GET /skills/<name>/similarity', 'api-copies-similarity', 'says how much, what kind, who had it first'],
    ['GET /skills/<name>/provenance', 'provenance', 'says who published it and when, and proves that the log holds it'],
  ],
  '4.2': [
    ['GET /packs', 'api-packs', 'are listed newest first, a page at a time'],
    ['GET /packs/<slug> with its skills', 'api-packs', 'with their skills in the given order'],
    ['POST /packs', 'api-packs', 'are made with 201, under a slug'],
  ],
  '4.3': [
    ['GET /agents by trust, activity, published or reviews', 'api-agents', 'of all platforms or one, twenty at a time'],
    ['POST /agents', 'api-agents', 'with 201 and a token the first time'],
    ['GET /agents/<agentKey> with its activity', 'api-agents', 'newest first, fifty at most'],
    ['POST /heartbeat answers updates', 'api-heartbeat', 'the worst reason only'],
    [
      'POST /heartbeat answers recommendations',
      'api-recommendations',
      'are what several agents with similar skills have',
    ],
  ],
  '4.4': [
    ['GET /requests by status, votes or recent', 'api-requests', 'are listed by votes, the newest first among equals'],
    ['POST /requests without a key', 'api-requests', 'are made with 201 by anybody'],
  ],
  '4.5': [
    ['GET and POST /api-keys', 'api-accounts', 'is shown once, when it is made, and never again'],
    ['DELETE /api-keys/<id>', 'api-accounts', 'stops working at once when it is deleted'],
    ['GET /users/me', 'api-accounts', 'sees himself, with his counts'],
  ],
  '4.6': [
    ['GET /users/<username>/reputation', 'api-reputation', 'rises with stars, reviews, downloads'],
    ['POST /users/<username>/verify', 'api-verification', 'is proved by a file, on a line of its own'],
    [
      'GET /reputation/leaderboard, 10 unless told, 100 at most',
      'api-reputation',
      'gives ten unless it is told another number',
    ],
  ],
  '4.7': [
    ['POST /dmca', 'api-dmca', 'by anyone, with 201'],
    ['GET /dmca/<id>', 'api-dmca', 'by everybody as a status and dates'],
    ['POST /dmca/<id>/counter-notice', 'api-dmca', 'of the owner’s key: the case moves'],
  ],
  '4.8': [
    ['GET /external by registry, verified ones, limit', 'api-external', 'is listed by installs, then by name'],
    ['POST /external/scan by address', 'api-external', 'are scanned by an address, whatever form it has'],
    ['POST /external/scan by content', 'api-external', 'are scanned by their content'],
    ['POST /track', 'api-track', 'are accepted from anybody with 202'],
    ['POST /track of an external skill', 'api-external', 'bring an unknown one of GitHub into the index'],
    ['GET /trending by period, category, limit', 'api-track', 'can be asked for by category, and up to a limit'],
  ],
  '4.9': [
    ['GET /webhooks', 'api-webhooks', 'are listed newest first, a page at a time'],
    ['POST /webhooks', 'api-webhooks', 'are made with 201'],
    ['POST /webhooks with a secret', 'api-webhooks', 'take a secret that is given'],
    ['GET /webhooks/<id> with its deliveries', 'api-webhooks-deliveries', 'are shown newest first, a hundred at most'],
    ['PATCH /webhooks/<id>', 'api-webhooks', 'in their %s alone'],
    ['DELETE /webhooks/<id>', 'api-webhooks', 'are deleted with 204'],
    ['Pro plan and above', 'api-webhooks', 'need a key, of the Pro plan or a higher one'],
  ],
  '6': [
    ['a webhook subscribes to a subset of the events', 'webhook-events-readers', 'a webhook of some events alone'],
    [
      'the envelope has the event, the time and the data',
      'webhook-events',
      'carry the time of their cause, and one id',
    ],
    ['skill.published', 'webhook-events', 'tell of a new skill and of each new version'],
    ['securityScore is a number', 'webhook-events', 'carry the score of what SKILL.md and the text files'],
    ['skill.downloaded', 'webhook-events-downloads', 'are one for each that is counted, with the count after it'],
    ['client is the name of the client', 'webhook-events-downloads', 'name the client by its headers'],
    ['skill.starred', 'webhook-events', 'tell of a star, with how many there are'],
    ['skill.review.created', 'webhook-events', 'tell of a review'],
    ['skill.issue.created', 'webhook-events', 'tell of an issue: %s'],
    ['user.followed', 'webhook-events', 'tell of a follower, with how many there are'],
  ],
}

export const requirements: readonly Requirement[] = Object.entries(bySection).flatMap(([section, rows]) =>
  rows.map(([says, file, title]) => ({ section, says, file: `${file}.test.ts`, title })),
)
