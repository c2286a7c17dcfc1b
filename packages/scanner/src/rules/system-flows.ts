import type { Combination, Fact, Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

/** Expressions of programs for the home folder. */
const home = regex`((pathlib\.)?path\.home\s?\(\)|os\.homedir\s?\(\)|homedir\s?\(\)|
  os\.path\.expanduser\s?\(\s?["']~/?["']\s?\)|os\.environ\[["']home["']\]|process\.env\.home|env\["home"\]|
  dir\.home|os\.userhomedir\s?\(\)|\$env:userprofile|path\(["']~["']\)\.expanduser\(\)|
  system\.getproperty\("user\.home"\))`

export const homeDeleted: readonly Pattern[] = [
  containing('rmtree|rmsync|fs.rm|rimraf|removeall|rm_rf|remove_entry')`\b(shutil\.rmtree|(fs\.)?(promises\.)?rm
    (sync|dirsync|dir)?|rimraf["')]{0,3}(\.sync)?|os\.removeall|fileutils\.rm_rf|remove_entry\w{0,7})\s?\(?\s?
    (${home}\s?[,)]|["'](/|~/?|/home|/etc|/usr|c:[/\\]{0,2})["'])`,
  containing('remove-item|ri -')`\b(get-childitem|gci|ls|dir)\s["']?(c:[/\\]?|\$home|\$env:userprofile|~|/)["']?\s
    [^\n\uE000|]{0,40}\|\s?(remove-item|ri|del)\b`,
  regex`(?<!\b(not|never|n't|to|that|may|might|could|can|would|will|which|and|or) )\b(delete|remove|erase|wipe|
    destroy) {0-2 words}(everything|all {0-2 words}(files|data|folders|documents))( {word})? (in|on|under|from|
    inside|within) (the |your |a )?(user('s)? |entire |whole )?(home( director(y|ies)| folder)?|root|disk|drive|
    system|computer|machine|hard drive|~|/(home|etc|usr)\b|c:)(?! (that|which|cache|prompt))`,
  regex`${home}\s?\.(rglob\s?\(\s?["']\*{0,2}(/\*?)?["']|iterdir\s?\()[^]{0,100}?(\.unlink|rmtree|os\.remove)\s?\(`,
  containing('rm -')`\brm\s-\w{0,4}(rf|fr)\w{0,3}\s[^\n\uE000;&]{0,40}
    ((~|\$home)/(documents|desktop|pictures|downloads)|(?<=\s)["']?/(home|root|etc|usr|boot|bin|lib)/?|
    /var/(lib/(mysql|postgresql|mongodb|docker|kubelet)|backups?)|/boot|/lib(64)?|/etc/(passwd|ssh|ssl))/?
    (?=[\s"';&)\uE000]|$)`,
  regex`\bgit push\s{0-20 in line}(--force|-f)\b[^\uE000]{0,120}\bgit reflog expire\b|\bgit reflog expire\b
    {0-40 in line}--all[^\uE000]{0,80}\bgit push\s{0-20 in line}(--force|-f)\b`,
]

/** Aliases and settings that make other programs run a command. */
export const hooksSet: readonly Pattern[] = [
  containing('alias |function sudo|sudo()|ssh()')`(\balias (sudo|su|ssh|passwd|login)\s?=|\b(function )?(sudo|su|ssh)
    \s?\(\)\s?\{){0-80 in line}\b(read -\w{0,3}s|curl|tee|nc|wget|>>)`,
  regex`\b(getsitepackages|getusersitepackages|site\.user_site|purelib)\b[^]{0,160}(["'][\w-]{1,30}\.pth["']|
    (site|user)customize)`,
  regex`\bgit config\s(--(global|system)\s)?(core\.(pager|sshcommand|fsmonitor|editor)|alias\.\w{1,20})\s["']?!?
    {0-60 in line}\b(curl|wget|nc|base64|sh -c|/tmp/|python\d? -c)`,
]

const startFileName = regex`\.(bashrc|zshrc|zshenv|zprofile|profile|bash_profile|bash_login|xprofile)\b`

/** Programs that write to a startup file of a shell. */
export const startFilesWritten: readonly Pattern[] = [
  regex`\b((open|appendfile(sync)?|writefile(sync)?|file\.open|os\.openfile)\s?\(|add-content\s){0-60 in line}
    ${startFileName}[^]{0,160}?(\\n|["'$\x60(]|\b)(nohup|(python\d?|node|bash|sh|perl|ruby|php)\s
    (-c\s|["']?(~|\$home|/|\{))|curl|wget|eval|base64|alias (sudo|ssh|git)|source\s(~|\$home)?/(tmp|\.))`,
  regex`\b(sed -i|perl -pi)\b{0-60 in line}\b(source|\.|eval|curl|nohup|bash|sh|python\d?|node)\s{0-80 in line}
    ${startFileName}`,
  regex`\b(append|add|insert|write)\b[^\n\uE000.]{0,60}${startFileName}{0-100 in line}[:(]\s?["'(]{0,2}
    (nohup |(python\d?|node|bash|sh|perl) (~|\$home|/)|curl |wget |eval |base64 )`,
]

const guards = regex`\b(ufw (--force )?disable|setenforce 0|systemctl (stop|disable|mask)
  ( --now)? (firewalld|ufw|apparmor|fail2ban|iptables|nftables)|iptables (-f|--flush)|nft flush ruleset|aa-teardown|
  pfctl -d|netsh advfirewall set \w{1,20} state off|service (iptables|ufw|apparmor) stop)\b`

/** Two commands that disable protections: disabling a single one may have a legitimate reason. */
export const guardsDown: Pattern = within(80, /\uE000/)`${guards} … ${guards}`

/** Parameters of a request that are run as a command. */
export const requestRun: readonly Pattern[] = [
  regex`\b(exec|execsync|spawn|spawnsync)\s?\(\s?[^\n\uE000;]{0,50}\.(query|searchparams|params)\b(\.|\[|\s?\))`,
  regex`(?<![.\w])(exec|execsync|spawn|system|shell_exec|passthru|eval|assert|popen|proc_open)\s?\(\s?\$?
    (_(get|post|request|cookie)\[|req\.(query|body|params)|request\.(args|form|values|json|query|body|get_json)
    (?![\w.]{0,40} ?[!=]==? ?(null|undefined))|params\[)|
    \b(os\.(system|popen)|subprocess\.\w{3,12}|child_process["']?\s?\)?\.\w{4,9}|cp\.exec\w{0,4})\s?\(\s?\$?
    (req\.(query|body|params)|request\.(args|form|values|json|get_json))`,
]

export const facts: readonly Fact[] = [
  {
    id: 'encrypts',
    patterns: [
      regex`\bfernet\s?\(|\baes\.new\s?\(|\bcreatecipheriv\s?\(|\bchacha20\w{0,12}\s?\(|
        \bopenssl enc\b(?![^\n]{0,40}-d\b)|\baesgcm\s?\(|\.encrypt\s?\(`,
    ],
  },
  {
    id: 'takes-original',
    patterns: [
      containing('os.remove|os.unlink|unlinksync|.unlink(|os.rename|.locked|.encrypted|shred ')`
        \bos\.(remove|unlink|rename)\s?\(|\bunlinksync\s?\(|\.unlink\s?\(|["'+]\s?\.(locked|encrypted|enc|crypt)["']
        |\bshred\s-`,
    ],
  },
  {
    id: 'goes-through-home',
    patterns: [
      regex`\b(os\.walk|readdir\w{0,4}|walkdir|filepath\.walk\w{0,3})\s?\(\s?(${home}|["'](/|/home|c:)|
        \w{0,12}(home|root|dir|path|base)\w{0,8}\s?[,)])|${home}{0-10 in line}\.rglob|\bfind (~|\$home|/home)\b`,
    ],
  },
  {
    id: 'names-hook',
    patterns: [regex`\.git[/\\]hooks[/\\](pre|post|commit|update|prepare|\$)[\w-]{0,20}`],
  },
  {
    id: 'names-agent-servers',
    patterns: [
      regex`(~|home|appdata|library|expanduser){0-60 in line}(\bmcp(_config|_settings)?\.json|
        claude_desktop_config\.json|\.claude\.json)`,
    ],
  },
  {
    id: 'writes-json',
    patterns: [
      containing(['json.dump', 'writefile', 'write_text', '>> ', '| tee', 'set-content', 'sponge'])`
        \bjson\.dump\s?\(|\bwritefile(sync)?\s?\(|\.write_text\s?\(|\btee\s|\bset-content\b|\bsponge\b`,
    ],
  },
]

export const combinations: readonly Combination[] = [
  {
    id: 'files-encrypted-in-place',
    category: 'destruction',
    severity: 'critical',
    signal: 'hostile',
    title: 'Encrypts the files of a home folder and deletes the originals',
    why: 'Ransomware does this.',
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
    title: 'Sets a Git hook that sends data',
    why: 'The hook runs at every commit, without being visible.',
    remediation: 'Let the user set hooks, and send nothing from them.',
    references: ['https://attack.mitre.org/techniques/T1546/'],
    all: [['names-hook'], ['uploads', 'sends-data']],
    within: 24,
  },
  {
    id: 'servers-added',
    category: 'persistence',
    severity: 'medium',
    signal: 'suspicious',
    title: 'Adds to the list of servers that an agent starts',
    why: 'A listed server runs with the agent, and can read what the agent reads.',
    remediation: 'Show the user what to add, and let the user add it.',
    references: ['https://atlas.mitre.org/techniques/AML.T0053'],
    all: [['names-agent-servers'], ['writes-json']],
    within: 5,
  },
]
