import type { Rule } from '../rule.ts'
import { blockStop, fetcher, lineStop, runPipe, shape } from './shapes.ts'
import { hooksSet, startFilesWritten } from './system-flows.ts'

const category = 'persistence'
const references = [
  'https://attack.mitre.org/tactics/TA0003/',
  'https://attack.mitre.org/techniques/T1546/004/',
  'https://attack.mitre.org/techniques/T1053/',
]
const remediation = 'Leave it to the user to start what shall run later, and say how to stop it.'

const startFile =
  /(?:~|\$home|\$\{home\}|\/root|\/home\/[\w$]{1,20})\/\.(?:bashrc|zshrc|zshenv|zprofile|profile|bash_profile|bash_login|zlogin|config\/fish\/config\.fish|xprofile|xinitrc)\b|\/etc\/(?:profile|bash\.bashrc|zshrc|zshenv|rc\.local|environment)\b|\$profile\b/
const startFileAnchors = [
  ...(['.bashrc', '.zshrc', '.profile', '.bash_profile', '.zshenv', '.zprofile'] as const),
  ...(['/etc/', '$profile', 'config.fish'] as const),
]
/** What a line that sets up a shell does not do. */
const acts =
  /\b(?:curl|wget|nc|ncat|nohup|base64|python\d?\s-c|node\s-e|perl\s-e|bash\s-[ci]|sh\s-c|\/dev\/tcp|iex|eval\s["']?\$\((?:curl|wget|echo|base64)|trap\s|prompt_command|alias\s(?:sudo|ssh|git|ls|cd|su|curl|npm|pip|docker|aws|kubectl)\s?=)/

/** What goes on after the skill is done. */
export const rules: readonly Rule[] = [
  {
    id: 'scheduled-remote-code',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Has code from the network run again and again',
    why: 'Whoever holds the address has a way back into the machine whenever they like.',
    remediation: 'Remove it. Update by a package manager, when the user asks for it.',
    references,
    patterns: [
      {
        anchors: ['curl', 'wget'],
        match:
          /(?:^|[\s"'`])(?:[\d*,/-]{1,9}\s){5}[^\n]{0,40}\b(?:curl|wget)\s[^\n]{0,160}\|\s?(?:sudo\s)?(?:ba|z|da)?sh\b/,
        view: 'raw',
      },
      {
        anchors: ['curl', 'wget', 'iwr', 'irm', 'invoke-', 'fetch', 'aria2c', 'lwp-request', 'bitstransfer'],
        match: shape`(?:\b(?:crontab|cron)\b|@(?:reboot|hourly|daily)|(?:^|[\n"'\uE000])\s?\/?[\d,/]{1,6}(?: [\d,/]{0,6}){2,5} ?)[^\n\uE000]{0,60}${fetcher}[^\n\uE000]{0,120}${runPipe}`,
      },
      {
        anchors: ['execstart', 'programarguments', '<string>curl', 'runatload', 'startinterval', 'exec='],
        match: shape`(?:\bexecstart(?:pre|post)?\s?=|\bexec\s?=|<string>)[^\n\uE000]{0,80}\b(?:curl|wget)\b[^\n\uE000]{0,160}(?:${runPipe}|<\/string>)`,
      },
      {
        anchors: [
          '.bashrc',
          '.zshrc',
          '.profile',
          '.bash_profile',
          '.zshenv',
          '.zprofile',
          '/etc/',
          '$profile',
          'rc.local',
        ],
        match: {
          first: shape`\b(?:curl|wget|iwr|irm)\s[^\n\uE000]{0,120}\|\s?(?:sudo )?(?:ba|z|da)?(?:sh|iex|python\d?)\b`,
          last: shape`>>?\s?["']?(?:${startFile})|\bto ["']?(?:${startFile})|\btee -a\s["']?(?:${startFile})`,
          stop: blockStop,
          withinMax: 80,
        },
      },
    ],
  },
  {
    id: 'start-file-hijack',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Writes a command into what every shell runs at its start',
    why: 'It runs at every new terminal, long after the skill is forgotten.',
    remediation,
    references,
    patterns: [
      ...startFilesWritten,
      {
        anchors: startFileAnchors,
        match: {
          first: acts,
          last: shape`(?:>>?|\btee -a|\bto|\binto)\s?["']?(?:${startFile})`,
          stop: lineStop,
          withinMax: 200,
        },
      },
      {
        anchors: startFileAnchors,
        match: {
          first: shape`(?:>>\s?|\bwrite to |\bpath: |\bappend to )["']?(?:${startFile})`,
          last: acts,
          stop: /\uE000/,
          withinMax: 160,
        },
      },
    ],
  },
  {
    id: 'start-file-write',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Adds to what every shell runs at its start',
    why: 'It stays after the skill is gone.',
    remediation: 'Show the user the line, and let them add it.',
    references,
    patterns: [
      {
        anchors: startFileAnchors,
        match: shape`(?:>>\s?|\btee -a\s)["']?(?:${startFile})`,
      },
    ],
  },
  {
    id: 'login-key-added',
    category,
    severity: 'critical',
    signal: 'suspicious',
    title: 'Lets a key of somebody into this machine',
    why: 'Whoever has the key can sign in from then on, whatever becomes of the skill.',
    remediation: 'Leave it to the user whom to let in.',
    references: ['https://attack.mitre.org/techniques/T1098/004/'],
    patterns: [
      {
        anchors: ['authorized_keys'],
        match: /(?:>>?|\btee -a)\s?["']?[\w~$/{}.-]{0,40}\.ssh\/authorized_keys\b/,
      },
      {
        anchors: ['authorized_keys'],
        match: {
          first:
            /\b(?:add|append|appends|write|writes|insert|install|inject)(?:s|ing)?\b[^\n\uE000.]{0,40}\b(?:key|ssh|attacker|public)\b/,
          last: /\bauthorized_keys\b/,
          stop: /\n|\uE000|\.\s|\bnot\b/,
          withinMax: 50,
        },
      },
      {
        anchors: ['authorized_keys', 'root_auth'],
        match: /\/root\/\.ssh\/authorized_keys\b[^\uE000]{0,160}\btee -a\b/,
      },
    ],
  },
  {
    id: 'hidden-service',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Starts a program at every login from a hidden place',
    why: 'What is meant to be found does not take a hidden name among the services of the system.',
    remediation: 'Remove it.',
    references: ['https://attack.mitre.org/techniques/T1564/001/', 'https://attack.mitre.org/techniques/T1543/'],
    patterns: [
      {
        anchors: ['com.apple.'],
        match:
          /(?:>>?|\btee|\bcp [^\n\uE000]{1,60}|\bopen\s?\()\s?["']?[\w~$/{}.-]{0,30}library\/launch(?:agents|daemons)\/com\.apple\.[\w.-]{2,40}\.plist\b/,
      },
      { anchors: ['launchagents/.', 'launchdaemons/.'], match: /\blaunch(?:agents|daemons)\/\.[\w.-]{2,60}\.plist\b/ },
      {
        anchors: ['systemd', 'autostart'],
        match: /\b(?:systemd\/(?:user|system)|autostart)\/\.[\w-]{2,40}\.(?:service|timer|desktop)\b/,
      },
      {
        anchors: ['login item', 'hidden:true', 'hidden: true'],
        match: /\bmake login item\b[^\n\uE000]{0,120}\bhidden: ?true/,
      },
      {
        anchors: ['ld.so.preload'],
        match: /(?:>>?|\btee -a)\s?["']?\/etc\/ld\.so\.preload\b/,
      },
    ],
  },
  {
    id: 'hidden-schedule',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Has a script in a hidden or passing place run on a schedule',
    why: 'What runs there is not what was looked at: anyone may put another script in its place.',
    remediation,
    references,
    patterns: [
      {
        anchors: ['cron'],
        match:
          /\becho\s["'][^\n\uE000]{0,30}(?:~|\$home|\/home\/\w{1,16})?\/(?:\.(?!openclaw|clawd|claude|agents|codex|cursor|local|config|nvm|pyenv|cargo|bun)[\w-]{1,30}|tmp|dev\/shm|var\/tmp)\/[^\n\uE000]{0,100}cron(?:tab)?\b|\becho\s["'][^\n\uE000"']{0,120}["']\s?\)?\s?\|\s?crontab -[^\n\uE000]{0,20}(?:2?>\s?\/dev\/null)/,
      },
      {
        anchors: ['cron', '/dev/null'],
        match:
          /\bcrontab\b[^\n\uE000]{0,80}\becho\s["'][^\n\uE000"']{0,100}(?:\/tmp\/|\/dev\/shm\/|ssh -|curl |wget |base64 |nc |\/\.(?!openclaw|clawd|claude|agents|codex|cursor|local|config|nvm|pyenv|cargo|bun)[\w-]{2,30}\/)[^\n\uE000"']{0,100}["']/,
      },
      {
        anchors: ['autostart'],
        match: {
          first: /\bautostart\b/,
          last: /(?:\b|\\n)exec=[^\n\uE000]{0,60}\/(?:\.(?!local|config)\w|tmp\/)/,
          stop: blockStop,
          withinMax: 160,
        },
      },
      {
        anchors: ['execstart', '<string>/tmp', '<string>/var/tmp', '<string>/users/shared'],
        match:
          /\bexecstart\s?=[^\n\uE000]{0,30}(?:\/tmp\/|\/dev\/shm\/|\/var\/tmp\/)|<string>(?:\/tmp\/|\/var\/tmp\/|\/users\/shared\/\.)[^\n\uE000<]{1,80}(?<!\.(?:log|out|err))<\/string>/,
      },
    ],
  },
  {
    id: 'hook-hijack',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Makes other programs run a command of its own',
    why: 'Git, an editor or an interpreter then runs it every time, in every project.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1546/', 'https://attack.mitre.org/techniques/T1574/'],
    patterns: [
      ...hooksSet,
      {
        anchors: ['.git/hooks', 'git/hooks', 'hookspath'],
        match: {
          first: /\.git\/hooks\/(?:pre|post|commit|update)[\w-]{0,20}/,
          last: /\b(?:curl|wget|nc|base64|eval|nohup|\/dev\/tcp|python\d?\s-c)\b/,
          stop: blockStop,
          withinMax: 200,
        },
      },
      {
        anchors: ['core.hookspath', 'init.templatedir'],
        match: /\bgit config --(?:global|system) (?:core\.hookspath|init\.templatedir)\s[^\n\uE000]{1,60}/,
      },
      {
        anchors: ['autocmd', 'sitecustomize', '.pth', 'usercustomize', 'pythonstartup'],
        match:
          /\bautocmd\s(?:bufwrite\w{0,6}|vimenter|bufread\w{0,6})[^\n\uE000]{0,60}(?:system\(|curl|wget|s:\w{1,20}_save)|(?:>>?|open\s?\(\s?["']?|write to |\/)[^\n\uE000]{0,60}(?:site-packages|dist-packages)[^\n\uE000]{0,40}(?:sitecustomize\.py|usercustomize\.py|\.pth\b)|\bexport pythonstartup=/,
      },
      {
        anchors: ['ld_preload', 'dyld_insert', 'node_options', 'bash_env', 'prompt_command'],
        match:
          /\b(?:export\s|setx\s|environment=)["']?(?:ld_preload|dyld_insert_libraries|bash_env)[= ]["']?\/?[\w~$.]|\bnode_options\s?=\s?["']?--(?:require|import)[= ](?:\/tmp|~\/\.|\$home\/\.|https?:|data:)|\bexport prompt_command=[^\n\uE000]{0,60}\b(?:curl|wget|nc|history)\b|\bset\b[^\n\uE000]{0,24}\bnode_options\b[^\n\uE000]{0,30}\bto\b/,
      },
    ],
  },
  {
    id: 'windows-autostart',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Has a program start with Windows',
    why: 'It runs at every start, long after the skill is forgotten.',
    remediation,
    references: ['https://attack.mitre.org/techniques/T1547/001/', 'https://attack.mitre.org/techniques/T1053/005/'],
    patterns: [
      {
        anchors: [
          'currentversion\\run',
          'currentversion\\\\run',
          'winlogon',
          'schtasks',
          'eventfilter',
          'eventconsumer',
          'startup',
        ],
        match:
          /\b(?:reg(?:\.exe)?\sadd|set-itemproperty|new-itemproperty|regsetvalue\w{0,4}|setvalueex)\b[^\n\uE000]{0,100}\\{1,2}(?:run(?:once)?|winlogon)\b|\bschtasks(?:\.exe)?\s\/create\b[^\n\uE000]{0,160}(?:powershell|cmd(?:\.exe)?\s\/c|wscript|mshta|\\temp\\|appdata|http)|\b(?:copy|cp|move|copy-item)\b[^\n\uE000]{0,80}\\start menu\\programs\\startup|\b(?:set-wmiinstance|new-ciminstance)\b[^\n\uE000]{0,120}(?:eventfilter|eventconsumer)/,
      },
    ],
  },
  {
    id: 'background-service',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Sets up a program that runs in the background',
    why: 'It goes on when the skill is done.',
    remediation: 'Say how to stop it.',
    references,
    patterns: [
      {
        anchors: ['crontab', 'launchctl', 'systemctl', 'launchagents', 'launchdaemons', 'schtasks', 'systemd/'],
        match:
          /\|\s?crontab -|\bcrontab\s-e\b|\blaunchctl\s(?:load|bootstrap)\b|\bsystemctl\s(?:--user\s)?enable\b|\blibrary\/launch(?:agents|daemons)\b|\bschtasks(?:\.exe)?\s\/create\b|\bsystemd\/(?:user|system)\/\w/,
      },
    ],
  },
]
