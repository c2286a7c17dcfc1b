import type { Rule } from '../match/rule.ts'
import { catcherHost, dropHost, publicIp, shortener, tunnelHost } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing } from '../match/pattern-tags.ts'

const category = 'suspicious-host'
const references = ['https://attack.mitre.org/techniques/T1567/', 'https://attack.mitre.org/techniques/T1071/001/']
const remediation = 'Use an address with a known owner, and state its purpose in the skill.'

/** A placeholder that the user replaces with their own address. */
const placeholderName = regex`(your|my|xxx|abc|1234|example|sample|foo|test|random|some|uuid|unique|id\b|<|\{|\$)`

/** Letters of Cyrillic, and those of Greek that look like Latin ones. */
const lookAlike =
  '\\u0400-\\u04ff\\u0391\\u0392\\u0395-\\u0397\\u0399\\u039a\\u039c\\u039d\\u039f\\u03a1\\u03a4\\u03a5\\u03a7' +
  '\\u03b1\\u03b9\\u03ba\\u03bd\\u03bf\\u03c1\\u03c4\\u03c5\\u03c7'
/** An address of which one label has letters of Latin and of another script next to each other. */
const mixedHost = new RegExp(
  String.raw`[hH][tT]{2}[pP][sS]?:\/\/(?:[^\s\/@]{1,40}@)?(?:[\w${lookAlike}-]{1,40}\.){0,4}[\w${lookAlike}-]{0,40}` +
    `(?:[a-zA-Z][${lookAlike}]|[${lookAlike}][a-zA-Z])`,
)

/** Rules about addresses without a known owner. */
export const rules: readonly Rule[] = [
  {
    id: 'catcher-address',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Sends data to a page that shows its owner every request',
    why: 'Such pages serve for experiments, and to collect stolen data.',
    remediation,
    references,
    patterns: [
      containing(`
      webhook.site|requestbin|pipedream.net|oast.|oastify|interact.sh|burpcollaborator|dnslog.cn|ceye.io|
      requestcatcher|beeceptor|requestrepo|hookb.in|hookbin|canarytokens|postb.in|ptsv|webhookinbox|bxss.me|
      xss.ht`)`(https?://|@|["'\s(/.])(?<![\w-])${catcherHost}(/(?!${placeholderName})[\w-]|["'\s])`,
    ],
  },
  {
    id: 'tunnel-address',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Contacts a machine behind a tunnel',
    why: 'The address leads to a private machine, and may belong to someone else tomorrow.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1572/', ...references],
    patterns: [
      regex`https?://(?!${placeholderName}|[\w-]{0,20}(xxx|your|subdomain|example))(?=[\w-]{0,40}\d)${tunnelHost}`,
    ],
  },
  {
    id: 'paste-address',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Fetches from or sends to a page for temporary texts',
    why: 'The texts have no known author, and may disappear.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1102/', ...references],
    patterns: [
      regex`(https?://|\b(curl|wget|nc)\s{0-80 in line}\s)([\w-]{1,20}\.)?(?<![\w-])${dropHost}
        ([/:"'\s](?!${placeholderName})|$)`,
    ],
  },
  {
    id: 'bare-address',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Contacts a machine by its IP address',
    why: 'An IP address has no known owner, and usually no certificate.',
    remediation,
    references,
    patterns: [
      regex`(?<![\w.=-])(https?|wss?|s?ftp|rsync|scp)://([\w.-]{1,20}(:[^\s@/]{1,30})?@)?${publicIp}([:/"'\s)\uE000]|$)`,
    ],
  },
  {
    id: 'short-address',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Hides an address behind a short link',
    why: 'The target of a short link is not visible, and may change.',
    remediation: 'Write the full address.',
    references,
    patterns: [regex`https?://${shortener}`],
  },
  {
    id: 'onion-address',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Contacts a hidden service',
    why: 'The owner of a hidden service cannot be known.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1090/003/'],
    patterns: [regex`\b(?=[a-z2-7]{0,55}\d)([a-z2-7]{16}|[a-z2-7]{56})\.onion\b`],
  },
  {
    id: 'chat-hook',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Posts to a chat channel of its author',
    why: 'The address is part of the skill, so the channel belongs to the author and not to the user.',
    remediation: 'Read the address of the channel from the environment.',
    references: ['https://attack.mitre.org/techniques/T1567/004/'],
    patterns: [
      regex`\bdiscord(app)?\.com/api/webhooks/(?!1234|0000)\d{15,20}/(?!x{3}|abc|your|\.\.\.)[\w-]{20,80}|
        \bapi\.telegram\.org/bot(?!1234)\d{8,10}:aa(?!x{3}|bb)[\w-]{20,40}`,
    ],
  },
  {
    id: 'mixed-script-address',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Contains an address with letters of two scripts in one name',
    why: 'Such a name looks like that of another site, and belongs to someone else.',
    remediation: 'Write the address with the letters of its owner.',
    references: ['https://attack.mitre.org/techniques/T1036/', 'https://unicode.org/reports/tr39/'],
    patterns: [
      {
        anchors: ['http://', 'https://'],
        match: mixedHost,
        view: 'raw',
      },
    ],
  },
  {
    id: 'telling-address',
    category,
    severity: 'medium',
    signal: 'suspicious',
    title: 'Contains an address whose name indicates theft',
    why: 'Legitimate services do not have such names.',
    remediation:
      'If the skill teaches about attacks, say so in its description and keep examples out of code that runs.',
    references: ['https://attack.mitre.org/tactics/TA0011/'],
    patterns: [
      containing(`attacker|c2_|_c2|c2-|exfil|malicious|evil|steal|victim|beacon|keylog|/loot|/grab|/c2`)`
        https?://(?!(www\.)?(attacker|evil|malicious)([.-](site|website|server|domain|app|page|example))?\.)
        ([\w-]{1,30}\.){0,3}?[\w-]{0,24}(\bevil\b|steal|exfil|attacker|malicious|c2-server|c2server|keylog)
        [\w-]{0,24}\.([\w-]{2,24}\.){0,2}[a-z]{2,10}\b|https?://(?!(www\.)?(github|gitlab|bitbucket)\.)[\w.-]{3,60}/([\w-]{1,20}/){0,3}(exfil|steal|stolen|
        c2|beacon|keylog|loot|grab)(?=["'\s/?)]|$)`,
    ],
  },
]
