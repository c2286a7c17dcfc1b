import type { Combination, Fact, Pattern } from '../rule.ts'
import { shape } from './shapes.ts'

/** What the home of the user is called in programs. */
const home =
  /(?:(?:pathlib\.)?path\.home\s?\(\)|os\.homedir\s?\(\)|homedir\s?\(\)|os\.path\.expanduser\s?\(\s?["']~\/?["']\s?\)|os\.environ\[["']home["']\]|process\.env\.home|env\["home"\]|dir\.home|os\.userhomedir\s?\(\)|\$env:userprofile|path\(["']~["']\)\.expanduser\(\)|system\.getproperty\("user\.home"\))/

export const homeDeleted: readonly Pattern[] = [
  {
    anchors: ['rmtree', 'rmsync', 'fs.rm', 'rimraf', 'removeall', 'rm_rf', 'remove_entry'],
    match: shape`\b(?:shutil\.rmtree|(?:fs\.)?(?:promises\.)?rm(?:sync|dirsync|dir)?|rimraf["')]{0,3}(?:\.sync)?|os\.removeall|fileutils\.rm_rf|remove_entry\w{0,7})\s?\(?\s?(?:${home}\s?[,)]|["'](?:\/|~\/?|\/home|\/etc|\/usr|c:[/\\]{0,2})["'])`,
  },
  {
    anchors: ['remove-item', 'ri -'],
    match:
      /\b(?:get-childitem|gci|ls|dir)\s["']?(?:c:[/\\]?|\$home|\$env:userprofile|~|\/)["']?\s[^\n\uE000|]{0,40}\|\s?(?:remove-item|ri|del)\b/,
  },
  {
    anchors: ['delete ', 'erase ', 'wipe ', 'remove ', 'destroy '],
    match:
      /(?<!\b(?:not|never|n't|to|that|may|might|could|can|would|will|which|and|or) )\b(?:delete|remove|erase|wipe|destroy) (?:\w{1,12} ){0,2}?(?:everything|all (?:\w{1,12} ){0,2}?(?:files|data|folders|documents))(?: \w{1,10})? (?:in|on|under|from|inside|within) (?:the |your |a )?(?:user(?:'s)? |entire |whole )?(?:home(?: director(?:y|ies)| folder)?|root|disk|drive|system|computer|machine|hard drive|~|\/(?:home|etc|usr)\b|c:)(?! (?:that|which|cache|prompt))/,
  },
  {
    anchors: ['rglob', 'iterdir'],
    match: shape`${home}\s?\.(?:rglob\s?\(\s?["']\*{0,2}(?:\/\*?)?["']|iterdir\s?\()[^]{0,100}?(?:\.unlink|rmtree|os\.remove)\s?\(`,
  },
  {
    anchors: ['rm -'],
    match:
      /\brm\s-\w{0,4}(?:rf|fr)\w{0,3}\s[^\n\uE000;&]{0,40}(?:(?:~|\$home)\/(?:documents|desktop|pictures|downloads)|(?<=\s)["']?\/(?:home|root|etc|usr|boot|bin|lib)\/?|\/var\/(?:lib\/(?:mysql|postgresql|mongodb|docker|kubelet)|backups?)|\/boot|\/lib(?:64)?|\/etc\/(?:passwd|ssh|ssl))\/?(?=[\s"';&)\uE000]|$)/,
  },
  {
    anchors: ['reflog expire'],
    match:
      /\bgit push\s[^\n\uE000]{0,20}(?:--force|-f)\b[^\uE000]{0,120}\bgit reflog expire\b|\bgit reflog expire\b[^\n\uE000]{0,40}--all[^\uE000]{0,80}\bgit push\s[^\n\uE000]{0,20}(?:--force|-f)\b/,
  },
]

/** Aliases and pages of settings through which other programs run a command. */
export const hooksSet: readonly Pattern[] = [
  {
    anchors: ['alias ', 'function sudo', 'sudo()', 'ssh()'],
    match:
      /(?:\balias (?:sudo|su|ssh|passwd|login)\s?=|\b(?:function )?(?:sudo|su|ssh)\s?\(\)\s?\{)[^\n\uE000]{0,80}\b(?:read -\w{0,3}s|curl|tee|nc|wget|>>)/,
  },
  {
    anchors: ['.pth', 'sitecustomize', 'usercustomize'],
    match:
      /\b(?:getsitepackages|getusersitepackages|site\.user_site|purelib)\b[^]{0,160}(?:["'][\w-]{1,30}\.pth["']|(?:site|user)customize)/,
  },
  {
    anchors: ['core.pager', 'core.sshcommand', 'core.fsmonitor', 'core.editor', 'alias.'],
    match:
      /\bgit config\s(?:--(?:global|system)\s)?(?:core\.(?:pager|sshcommand|fsmonitor|editor)|alias\.\w{1,20})\s["']?!?[^\n\uE000]{0,60}\b(?:curl|wget|nc|base64|sh -c|\/tmp\/|python\d? -c)/,
  },
]

const startFileName = /\.(?:bashrc|zshrc|zshenv|zprofile|profile|bash_profile|bash_login|xprofile)\b/

/** Programs that write into what every shell runs. */
export const startFilesWritten: readonly Pattern[] = [
  {
    anchors: ['.bashrc', '.zshrc', '.zshenv', '.zprofile', '.profile', '.bash_profile'],
    match: shape`\b(?:(?:open|appendfile(?:sync)?|writefile(?:sync)?|file\.open|os\.openfile)\s?\(|add-content\s)[^\n\uE000]{0,60}${startFileName}[^]{0,160}?(?:\\n|["'$\x60(]|\b)(?:nohup|(?:python\d?|node|bash|sh|perl|ruby|php)\s(?:-c\s|["']?(?:~|\$home|\/|\{))|curl|wget|eval|base64|alias (?:sudo|ssh|git)|source\s(?:~|\$home)?\/(?:tmp|\.))`,
  },
  {
    anchors: ['sed -i', 'perl -pi'],
    match: shape`\b(?:sed -i|perl -pi)\b[^\n\uE000]{0,60}\b(?:source|\.|eval|curl|nohup|bash|sh|python\d?|node)\s[^\n\uE000]{0,80}${startFileName}`,
  },
  {
    anchors: ['.bashrc', '.zshrc', '.zshenv', '.zprofile', '.profile', '.bash_profile'],
    match: shape`\b(?:append|add|insert|write)\b[^\n\uE000.]{0,60}${startFileName}[^\n\uE000]{0,100}?[:(]\s?["'(]{0,2}(?:nohup |(?:python\d?|node|bash|sh|perl) (?:~|\$home|\/)|curl |wget |eval |base64 )`,
  },
]

const guards =
  /\b(?:ufw (?:--force )?disable|setenforce 0|systemctl (?:stop|disable|mask)(?: --now)? (?:firewalld|ufw|apparmor|fail2ban|iptables|nftables)|iptables (?:-f|--flush)|nft flush ruleset|aa-teardown|pfctl -d|netsh advfirewall set \w{1,20} state off|service (?:iptables|ufw|apparmor) stop)\b/

/** One guard may be in the way of something; two of them are taken down together by who wants none. */
export const guardsDown: Pattern = {
  anchors: ['ufw', 'setenforce', 'firewalld', 'apparmor', 'iptables', 'nft ', 'pfctl', 'fail2ban', 'advfirewall'],
  match: { first: guards, last: guards, stop: /\uE000/, withinMax: 80 },
}

/** What comes with a request, run as a command. */
export const requestRun: readonly Pattern[] = [
  {
    anchors: ['exec', 'spawn'],
    match:
      /\b(?:exec|execsync|spawn|spawnsync)\s?\(\s?[^\n\uE000;]{0,50}\.(?:query|searchparams|params)\b(?:\.|\[|\s?\))/,
  },
  {
    anchors: ['req.', 'request.', '$_get', '$_post', '$_request', '$_cookie', 'params['],
    match:
      /(?<![.\w])(?:exec|execsync|spawn|system|shell_exec|passthru|eval|assert|popen|proc_open)\s?\(\s?\$?(?:_(?:get|post|request|cookie)\[|req\.(?:query|body|params)|request\.(?:args|form|values|json|query|body|get_json)|params\[)|\b(?:os\.(?:system|popen)|subprocess\.\w{3,12}|child_process["']?\s?\)?\.\w{4,9}|cp\.exec\w{0,4})\s?\(\s?\$?(?:req\.(?:query|body|params)|request\.(?:args|form|values|json|get_json))/,
  },
]

export const facts: readonly Fact[] = [
  {
    id: 'encrypts',
    patterns: [
      {
        anchors: ['fernet', 'aes.new', 'createcipheriv', 'chacha20', 'openssl enc', 'aesgcm', '.encrypt('],
        match:
          /\bfernet\s?\(|\baes\.new\s?\(|\bcreatecipheriv\s?\(|\bchacha20\w{0,12}\s?\(|\bopenssl enc\b(?![^\n]{0,40}-d\b)|\baesgcm\s?\(|\.encrypt\s?\(/,
      },
    ],
  },
  {
    id: 'takes-original',
    patterns: [
      {
        anchors: ['os.remove', 'os.unlink', 'unlinksync', '.unlink(', 'os.rename', '.locked', '.encrypted', 'shred '],
        match:
          /\bos\.(?:remove|unlink|rename)\s?\(|\bunlinksync\s?\(|\.unlink\s?\(|["'+]\s?\.(?:locked|encrypted|enc|crypt)["']|\bshred\s-/,
      },
    ],
  },
  {
    id: 'goes-through-home',
    patterns: [
      {
        anchors: ['os.walk', 'rglob', 'readdir', 'walkdir', 'filepath.walk', 'find ~', 'find $home', 'find /home'],
        match: shape`\b(?:os\.walk|readdir\w{0,4}|walkdir|filepath\.walk\w{0,3})\s?\(\s?(?:${home}|["'](?:\/|\/home|c:)|\w{0,12}(?:home|root|dir|path|base)\w{0,8}\s?[,)])|${home}[^\n\uE000]{0,10}\.rglob|\bfind (?:~|\$home|\/home)\b`,
      },
    ],
  },
  {
    id: 'names-hook',
    patterns: [
      {
        anchors: ['git/hooks', 'git\\hooks'],
        match: /\.git[/\\]hooks[/\\](?:pre|post|commit|update|prepare|\$)[\w-]{0,20}/,
      },
    ],
  },
  {
    id: 'names-agent-servers',
    patterns: [
      {
        anchors: [
          'mcp.json',
          'claude_desktop_config',
          'mcp_config.json',
          'mcp_settings.json',
          '.claude.json',
          'mcpservers',
        ],
        match:
          /(?:~|home|appdata|library|expanduser)[^\n\uE000]{0,60}(?:\bmcp(?:_config|_settings)?\.json|claude_desktop_config\.json|\.claude\.json)/,
      },
    ],
  },
  {
    id: 'writes-json',
    patterns: [
      {
        anchors: ['json.dump', 'writefile', 'write_text', '>> ', '| tee', 'set-content', 'sponge'],
        match: /\bjson\.dump\s?\(|\bwritefile(?:sync)?\s?\(|\.write_text\s?\(|\btee\s|\bset-content\b|\bsponge\b/,
      },
    ],
  },
]

export const combinations: readonly Combination[] = [
  {
    id: 'files-encrypted-in-place',
    category: 'destruction',
    severity: 'critical',
    signal: 'hostile',
    title: 'Encrypts the files of a home and takes the originals away',
    why: 'It is what extortion does.',
    remediation: 'Remove it.',
    references: ['https://attack.mitre.org/techniques/T1486/'],
    all: [['goes-through-home'], ['encrypts'], ['takes-original']],
    within: 12,
  },
  {
    id: 'hook-that-sends',
    category: 'persistence',
    severity: 'high',
    signal: 'suspicious',
    title: 'Sets a hook of Git that sends something',
    why: 'It runs at every commit, in sight of nobody.',
    remediation: 'Leave it to the user to set hooks, and send nothing from them.',
    references: ['https://attack.mitre.org/techniques/T1546/'],
    all: [['names-hook'], ['uploads', 'sends-data']],
    within: 24,
  },
  {
    id: 'servers-added',
    category: 'persistence',
    severity: 'medium',
    signal: 'suspicious',
    title: 'Writes into the list of servers that an agent starts',
    why: 'Whatever stands there runs whenever the agent does, and sees what it sees.',
    remediation: 'Show the user what to add, and let them add it.',
    references: ['https://atlas.mitre.org/techniques/AML.T0053'],
    all: [['names-agent-servers'], ['writes-json']],
    within: 5,
  },
]
