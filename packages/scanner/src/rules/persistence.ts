import { startsPlanted } from './lasting-orders.ts'
import type { Rule } from '../match/rule.ts'
import { blockStop, fetcher, lineStop, runPipe } from './shapes.ts'
import { hooksSet, startFilesWritten } from './system-flows.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'persistence'
const references = [
  'https://attack.mitre.org/tactics/TA0003/',
  'https://attack.mitre.org/techniques/T1546/004/',
  'https://attack.mitre.org/techniques/T1053/',
]
const remediation = 'Let the user start programs that run later, and explain how to stop them.'

const startFile = regex`(~|\$home|\$\{home\}|/root|/home/[\w$]{1,20})/\.(bashrc|zshrc|zshenv|
  zprofile|profile|bash_profile|bash_login|zlogin|config/fish/config\.fish|xprofile|xinitrc)\b|
  /etc/(profile|bash\.bashrc|zshrc|zshenv|rc\.local|environment)\b|\$profile\b`
const startFileAnchors = [
  ...(['.bashrc', '.zshrc', '.profile', '.bash_profile', '.zshenv', '.zprofile'] as const),
  ...(['/etc/', '$profile', 'config.fish'] as const),
]
/** Commands that do not belong in a startup file of a shell. */
const acts = regex`\b(curl|wget|nc|ncat|nohup|base64|python\d?\s-c|node\s-e|perl\s-e|
  bash\s-[ci]|sh\s-c|/dev/tcp|iex|eval\s["']?\$\((curl|wget|echo|base64)|trap\s|prompt_command|
  alias\s(sudo|ssh|git|ls|cd|su|curl|npm|pip|docker|aws|kubectl)\s?=)`

/** Rules about programs that continue to run after the skill has finished. */
export const rules: readonly Rule[] = [
  {
    id: 'scheduled-remote-code',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Runs code from the network on a schedule',
    why: 'The owner of the address can run any code on the machine at any later time.',
    remediation: 'Remove it. Update with a package manager, when the user asks for it.',
    references,
    patterns: [
      {
        anchors: ['curl', 'wget'],
        match: regex`(^|[\s"'\x60])([\d*,/-]{1,9}\s){5}[^\n]{0,40}\b(curl|wget)\s[^\n]{0,160}\|\s?(sudo\s)?(ba|z|da)?
          sh\b`,
        view: 'raw',
      },
      containing('curl|wget|iwr|irm|invoke-|fetch|aria2c|lwp-request|bitstransfer')`
        (\b(crontab|cron)\b|@(reboot|hourly|daily)|(^|[\n"'\uE000])\s?/?[\d,/]{1,6}( [\d,/]{0,6}){2,5} ?)
        {0-60 in line}${fetcher}{0-120 in line}${runPipe}`,
      regex`(\bexecstart(pre|post)?\s?=|\bexec\s?=|<string>){0-80 in line}\b(curl|wget)\b{0-160 in line}
        (${runPipe}|</string>)`,
      within(80, blockStop)`\b(curl|wget|iwr|irm)\s{0-120 in line}\|\s?(sudo )?(ba|z|da)?(sh|iex|python\d?)\b
        … >>?\s?["']?${startFile}|\bto ["']?${startFile}|\btee -a\s["']?${startFile}`,
    ],
  },
  {
    id: 'start-file-hijack',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Adds a command to a startup file of the shell',
    why: 'The command runs in every new terminal, also after the skill is removed.',
    remediation,
    references,
    patterns: [
      ...startsPlanted,
      ...startFilesWritten,
      within(200, lineStop, startFileAnchors)`${acts} … (>>?|\btee -a|\bto|\binto)\s?["']?${startFile}`,
      within(160, /\uE000/, startFileAnchors)`(>>\s?|\bwrite to |\bpath: |\bappend to )["']?${startFile}
        … ${acts}`,
    ],
  },
  {
    id: 'start-file-write',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Adds lines to a startup file of the shell',
    why: 'The added lines remain after the skill is removed.',
    remediation: 'Show the user the line, and let the user add it.',
    references,
    patterns: [containing(startFileAnchors)`(>>\s?|\btee -a\s)["']?${startFile}`],
  },
  {
    id: 'login-key-added',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Adds a key that allows another person to sign in to this machine',
    why: 'The owner of the key can sign in also after the skill is removed.',
    remediation: 'Let the user decide who may sign in.',
    references: ['https://attack.mitre.org/techniques/T1098/004/'],
    patterns: [
      containing(
        'authorized_keys',
      )`\b(the following|our|this|my|support) ({word} )?(keys?|lines?) (gets?|is|are|will be) (appended|added|written|put|copied|installed)
        ( {word}){0,3}? (to|into|in) {0-60 in line}authorized_keys`,
      regex`(>>?|\btee -a)\s?["']?[\w~$/{}.-]{0,40}\.ssh/authorized_keys\b`,
      within(50, /\n|\uE000|\.\s|\bnot\b/)`\b(add|append|appends|write|writes|insert|install|inject)(s|ing)?\b
        [^\n\uE000.]{0,40}\b(key|ssh|attacker|public)\b
        … \bauthorized_keys\b`,
      /\/root\/\.ssh\/authorized_keys\b[^\uE000]{0,160}\btee -a\b/,
    ],
  },
  {
    id: 'hidden-service',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Starts a program at every login from a hidden place',
    why: 'A legitimate service does not use a hidden name.',
    remediation: 'Remove it.',
    references: ['https://attack.mitre.org/techniques/T1564/001/', 'https://attack.mitre.org/techniques/T1543/'],
    patterns: [
      regex`(>>?|\btee|\bcp {1-60 in line}|\bopen\s?\()\s?["']?[\w~$/{}.-]{0,30}library/launch(agents|daemons)
        /com\.apple\.[\w.-]{2,40}\.plist\b`,
      regex`\blaunch(agents|daemons)/\.[\w.-]{2,60}\.plist\b`,
      regex`\b(systemd/(user|system)|autostart)/\.[\w-]{2,40}\.(service|timer|desktop)\b`,
      regex`\bmake login item\b{0-120 in line}\bhidden: ?true`,
      regex`(>>?|\btee -a)\s?["']?/etc/ld\.so\.preload\b`,
    ],
  },
  {
    id: 'hidden-schedule',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Schedules a script in a hidden or temporary folder',
    why: 'Other programs can replace the script after a review.',
    remediation,
    references,
    patterns: [
      regex`\becho\s["']{0-30 in line}(~|\$home|/home/\w{1,16})?/(\.(?!openclaw|clawd|claude|agents|codex|cursor|
        local|config|nvm|pyenv|cargo|bun)[\w-]{1,30}|tmp|dev/shm|var/tmp)/{0-100 in line}cron(tab)?\b|
        \becho\s["'][^\n\uE000"']{0,120}["']\s?\)?\s?\|\s?crontab -{0-20 in line}2?>\s?/dev/null`,
      regex`\bcrontab\b{0-80 in line}\becho\s["'][^\n\uE000"']{0,100}(/tmp/|/dev/shm/|ssh -|curl |wget |base64 |nc |
        /\.(?!openclaw|clawd|claude|agents|codex|cursor|local|config|nvm|pyenv|cargo|bun)[\w-]{2,30}/)
        [^\n\uE000"']{0,100}["']`,
      within(160, blockStop)`\bautostart\b … (\b|\\n)exec={0-60 in line}/(\.(?!local|config)\w|tmp/)`,
      regex`\bexecstart\s?={0-30 in line}(/tmp/|/dev/shm/|/var/tmp/)|<string>(/tmp/|/var/tmp/|/users/shared/\.)
        [^\n\uE000<]{1,80}(?<!\.(log|out|err))</string>`,
    ],
  },
  {
    id: 'hook-hijack',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Makes other programs run its command',
    why: 'Git, an editor or an interpreter then runs the command every time, in every project.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1546/', 'https://attack.mitre.org/techniques/T1574/'],
    patterns: [
      regex`\bcredential\.helper\s["']?!{0-80 in line}\b(curl|wget|nc)\b`,
      ...hooksSet,
      within(200, blockStop)`\.git/hooks/(pre|post|commit|update)[\w-]{0,20}
        … \b(curl|wget|nc|base64|eval|nohup|/dev/tcp|python\d?\s-c)\b`,
      regex`\bgit config --(global|system) (core\.hookspath|init\.templatedir)\s{1-60 in line}`,
      regex`\bautocmd\s(bufwrite\w{0,6}|vimenter|bufread\w{0,6}){0-60 in line}(system\(|curl|wget|s:\w{1,20}_save)|
        (>>?|open\s?\(\s?["']?|write to |/){0-60 in line}(site-packages|dist-packages){0-40 in line}
        (sitecustomize\.py|usercustomize\.py|\.pth\b)|\bexport pythonstartup=`,
      regex`\b(export\s|setx\s|environment=)["']?(ld_preload|dyld_insert_libraries|bash_env)[= ]["']?/?[\w~$.]|
        \bnode_options\s?=\s?["']?--(require|import)[= ](/tmp|~/\.|\$home/\.|https?:|data:)|\bexport prompt_command=
        {0-60 in line}\b(curl|wget|nc|history)\b|\bset\b{0-24 in line}\bnode_options\b{0-30 in line}\bto\b`,
    ],
  },
  {
    id: 'windows-autostart',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Starts a program with Windows',
    why: 'The program runs at every start, also after the skill is removed.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1547/001/', 'https://attack.mitre.org/techniques/T1053/005/'],
    patterns: [
      containing([
        'currentversion\\run',
        'currentversion\\\\run',
        'winlogon',
        'schtasks',
        'eventfilter',
        'eventconsumer',
        'startup',
      ])`
        \b(reg(\.exe)?\sadd|set-itemproperty|new-itemproperty|regsetvalue\w{0,4}|setvalueex)\b{0-100 in line}\\{1,2}
        (run(once)?|winlogon)\b|\bschtasks(\.exe)?\s/create\b{0-160 in line}(powershell|cmd(\.exe)?\s/c|wscript|
        mshta|\\temp\\|appdata|http)|\b(copy|cp|move|copy-item)\b{0-80 in line}\\start menu\\programs\\startup|
        \b(set-wmiinstance|new-ciminstance)\b{0-120 in line}(eventfilter|eventconsumer)`,
    ],
  },
  {
    id: 'background-service',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Installs a program that runs in the background',
    why: 'The program continues to run after the skill has finished.',
    remediation: 'Explain how to stop the program.',
    references,
    patterns: [
      regex`\|\s?crontab -|\bcrontab\s-e\b|\blaunchctl\s(load|bootstrap)\b|\bsystemctl\s(--user\s)?enable\b|
        \blibrary/launch(agents|daemons)\b|\bschtasks(\.exe)?\s/create\b|\bsystemd/(user|system)/\w`,
    ],
  },
]
