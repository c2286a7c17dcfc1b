import { entriesOf, keysOf, toRecord, type Access, type ScanFinding } from '@skillstead/protocol'
import { regex, regexWith } from '../text/regex.ts'

interface Signs {
  /** Items of the access lists that show the ability. */
  readonly access: Partial<Record<Exclude<keyof Access, 'cut'>, RegExp>>
  /** Categories of findings that show the ability. */
  readonly categories?: readonly string[]
}

/**
 * What a version can do, as far as its text shows. `secrets` are secrets that its user sets in the environment,
 * `credential-stores` are places where a machine keeps secrets of other programs.
 */
const signs = {
  secrets: {
    access: {
      environment: regex`^\*$|(^|_)(TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|COOKIE|SESSION|PAT|
        (API|ACCESS|PRIVATE|SIGNING|SECRET|AUTH)_?KEY)(_|$)`,
    },
  },
  'credential-stores': {
    access: {
      files: regexWith(
        'i',
      )`(^|/)\.(ssh|aws|gnupg|netrc|npmrc|pypirc|env(\.\w+)?|kube|docker|azure|git-credentials)(/|$)|
        \.config/(gh|gcloud)|keychain|credentials?|^/etc/shadow|^/proc|Cookies|Login Data`,
      commands: /^(?:security|secret-tool|op|pass|bw|gpg|ssh-keygen)$/,
    },
    categories: ['credential-access'],
  },
  startup: {
    access: {
      files: regexWith('i')`^~/\.(bash\w*|zsh\w*|z?profile|config/(autostart|systemd|fish))|LaunchAgents|LaunchDaemons|
        ^/etc/(cron|systemd|init|profile|rc)|^/var/spool/cron|^\.git/(hooks|config)|^\.husky|
        (^|/)(CLAUDE|AGENTS|GEMINI|SOUL|MEMORY)\.md$|^(~/)?\.(claude|cursor|codex)/(settings|hooks|config)|^\.vscode`,
      commands: /^(?:crontab|launchctl|systemctl|at|schtasks|reg)$/,
    },
    categories: ['persistence'],
  },
  privilege: { access: { commands: /^(?:sudo|doas|su|chown|setcap|visudo)$/ }, categories: ['privilege'] },
  network: {
    access: {
      hosts: /^(?!localhost$)/,
      commands: /^(?:curl|wget|nc|ncat|netcat|socat|ssh|scp|sftp|rsync|rclone|telnet|ftp|aria2c|ngrok|http)$/,
      tools: /^Web(?:Fetch|Search)/,
    },
    categories: ['exfiltration', 'suspicious-host'],
  },
  shell: { access: { commands: /./, tools: /^Bash\b/ } },
} satisfies Record<string, Signs>
export type Ability = keyof typeof signs

/** The evidence for each ability of a version; empty for an ability that the version does not have. */
export function findAbilities(access: Access, findings: readonly ScanFinding[]): Record<Ability, string[]> {
  const found = findings.filter(({ signal, context }) => signal !== 'none' && context.role !== 'data')
  return toRecord(keysOf(signs), (ability) => {
    const { access: patterns, categories = [] }: Signs = signs[ability]
    const items = entriesOf(patterns).flatMap(([kind, pattern]) => access[kind].filter((item) => pattern?.test(item)))
    const places = found
      .filter(({ category }) => categories.includes(category))
      .map(({ path, line, excerpt }) => `${path}:${line}: ${excerpt}`)
    return [...new Set([...items, ...places])]
  })
}
