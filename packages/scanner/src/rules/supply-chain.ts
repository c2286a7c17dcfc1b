import { codeUnreviewed } from './statements.ts'
import { installedFromNowhere, scriptsPlanted } from './supply-orders.ts'
import { lookAlikeNames } from './look-alike-names.ts'
import type { Pattern, Rule } from '../match/rule.ts'
import { namesLookAlike } from './popular-packages.ts'
import { dropHost, fetcher, lineStop, localHost, publicIp, runPipe, tunnelHost } from './shapes.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'supply-chain'
const references = [
  'https://attack.mitre.org/techniques/T1195/',
  'https://cwe.mitre.org/data/definitions/829.html',
  'https://owasp.org/www-project-top-10-ci-cd-security-risks/CICD-SEC-03-Dependency-Chain-Abuse',
]
const remediation = 'Install by name and version from the registry, and keep a lockfile.'

export const installer = regex`\b((npm|pnpm|yarn|bun)( global)? (install|i|add|link)|npx|bunx|pnpm dlx
  |yarn dlx|pip[\d.]{0,4} install|uv (pip install|add|tool install)|uvx|pipx (install|run)|poetry add|gem install|
  cargo install|go (install|get)|brew install|easy_install)\b`
export const installAnchors = [
  ' install',
  ' i -',
  ' add ',
  'npx ',
  'uvx ',
  'bunx ',
  ' dlx ',
  'pipx ',
  'npm i',
  'go get',
]
const forge = regex`(www\.)?(github|gitlab|bitbucket|codeberg)\.(com|org)\b|
  (files\.)?pythonhosted\.org|registry\.npmjs\.org|download\.pytorch\.org|git\.sr\.ht|huggingface\.co|
  dev\.azure\.com|storage\.googleapis\.com`

/** Package registries and their mirrors. */
export const registry = regex`([\w-]{1,30}\.){0,3}(pypi\.org|pythonhosted\.org|pytorch\.org|
  npmjs\.(org|com)|npmmirror\.com|yarnpkg\.com|jsr\.io|github\.(com|io)|githubusercontent\.com|gitlab\.(com|io)|
  bitbucket\.org|nvidia\.com|huggingface\.co|amazonaws\.com|pkg\.dev|googleapis\.com|azure\.com|visualstudio\.com|
  anaconda\.(org|com|cloud)|jfrog\.io|cloudsmith\.io|fury\.(io|site)|aliyun\.com|tencent\.com|ustc\.edu\.cn|
  tsinghua\.edu\.cn|douban\.com|huaweicloud\.com|vllm\.ai|intel\.com|python\.org|rubygems\.org|golang\.org|
  openeuler\.org|xethub\.com|clawhub\.(ai|com)|piwheels\.org|microsoft\.com|amd\.com)\b|
  [\w.-]{0,40}(your|my-|my(org|company|corp)|acme|example\.com|company|corp\b|private|internal|<|\{|\$)`

const lookAlikes: readonly Pattern[] = [
  {
    anchors: ['npm ', 'yarn ', 'bun '],
    match: regex`\b(npm|pnpm|yarn|bun)( global)? (install|i|add)( ["']?[\w@/.^~=:-]{1,60}["']?){1,10}`,
    isMeant: namesLookAlike,
  },
  {
    anchors: ['pip', 'uv ', 'poetry '],
    match: regex`\b(pip[\d.]{0,4} install|uv (add|pip install)|poetry add|pipx install)
      ( ["']?[\w@/.^~=<>\[\],:-]{1,60}["']?){1,10}`,
    isMeant: namesLookAlike,
  },
  {
    anchors: ['npx ', 'bunx ', 'uvx '],
    match: regex`\b(npx|bunx|uvx)( -{1,2}[\w-]{1,20}){0,3} @?[a-z][\w./-]{3,60}`,
    isMeant: namesLookAlike,
  },
  {
    anchors: ['": "^', '": "~'],
    match: regex`("[\w@/.-]{5,60}": "[\^~]\d[\w.-]{0,16}",?\s?){1,8}`,
    isMeant: namesLookAlike,
  },
  {
    anchors: ['install_requires', 'dependencies ='],
    match: regex`\b(install_requires|dependencies)\s?=\s?\[[^\]]{0,400}`,
    isMeant: namesLookAlike,
  },
]

/** Rules about packages that a skill installs. */
export const rules: readonly Rule[] = [
  {
    id: 'look-alike-package',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Installs a package whose name differs from a popular one by a typing error',
    why: 'Attackers register such names and wait for typing errors; packages can run code on installation.',
    remediation: 'Check the spelling of the name.',
    references: ['https://attack.mitre.org/techniques/T1195/001/', ...references],
    patterns: [...lookAlikes, ...lookAlikeNames],
  },
  {
    id: 'package-from-nowhere',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Installs a package from an address without a known owner',
    why: 'A package runs code on installation, and the address can serve a different one to each caller.',
    remediation,
    references,
    patterns: [
      regex`\bextensioninstallforcelist\b{0-80 in line}https?://(?!clients2\.google\.com)`,
      ...codeUnreviewed,
      ...installedFromNowhere,
      ...scriptsPlanted,
      containing(installAnchors)`${installer}\s[^\n\uE000;|]{0,60}?(git\+)?(http://(?!${localHost})[\w-]|
        https?://(${publicIp}|${dropHost}|${tunnelHost}))`,
      regex`(--(extra-)?index-url|\bpip_(extra_)?index_url|(?<=\b(npm|pnpm|yarn|bun|npx)\b{0-60 in line})--registry|
        \bset registry|\bnpm_config_registry)[ =]["']?https?://(?!${localHost}|${registry})[\w-]{1,40}\.`,
      containing(
        'npx|bunx|pip|npm i|uvx|uv ',
      )`\b(npx|bunx|uvx|pip[\d.]{0,4} install|uv pip install|(npm|pnpm) (install|i)|yarn add)\s
        (-{1,2}[\w-]{1,20}\s){0,3}["']?https://(?!${localHost}|${registry})[\w.-]{4,60}/`,
      containing('git+https|git+ssh|deno run')`(\bgit\+(https|ssh)://([\w.:-]{1,40}@)?(?!${forge})|
        \bdeno run\s(-[\w=,-]{1,40}\s){0,5}https?://(?!deno\.land|esm\.sh|cdn\.jsdelivr))(?!${localHost}|
        ${registry})[\w-]{1,40}\.`,
      regex`\bgit\+http://(?!${localHost})[\w.-]{3,60}/`,
      regex`\bdeb \[[^\n\uE000\]]{0,60}trusted=yes[^\n\uE000\]]{0,60}\]\shttps?://(?!${localHost}|${registry})[\w-]|
        \bbrew tap\s[\w-]{1,40}/[\w-]{1,40}\shttps?://(?!${forge})[\w-]|
        \bstrict-ssl\s?=\s?false\b{0-40 in sentence}\bregistry\s?=\s?["']?http://(?!${localHost})`,
      regex`\b(goflags=["']?-insecure\b|gonosumdb=["']?(?=[*\s]|$)|gonosumcheck=["']?1\b|gosumdb=["']?off\b)`,
      regex`(--(extra-)?index-url|--registry|\bset registry|\bpip_(extra_)?index_url|\bnpm_config_registry|(?<![\w-])registry|
        install -i)[ =]["']?(http://(?!${localHost}|mirrors?\.)[\w-]|https?://(${publicIp}|${tunnelHost}))`,
    ],
  },
  {
    id: 'code-at-installation',
    category,
    severity: 'critical',
    signal: 'hostile',
    title: 'Fetches and runs code when a package is installed',
    why: 'The code runs before a review, on every machine that installs the package.',
    remediation: 'Remove the script, and include what the package needs.',
    references: ['https://attack.mitre.org/techniques/T1195/002/', ...references],
    patterns: [
      regex`"(pre|post)?(install|prepare|prepublish)"\s?:\s?"[^\n\uE000"]{0,100}
        (${fetcher}\b{0-100 in line}(${runPipe}|\|\s?(ba)?sh)|\\?"?/dev/tcp|\bbase64 -d|\bnode -e\s?\\?["']
        {0-80 in line}(http|exec|eval|buffer))`,
      within(300, /\uE000\uE000/)`\bclass \w{1,40}\((install|develop|egg_info|build_py|sdist)\)\s?:
        … \b(urlopen|requests\.(get|post)|os\.system|subprocess\.\w{3,12}|exec)\s?\(`,
    ],
  },
  {
    id: 'package-by-address',
    category,
    severity: 'medium',
    signal: 'power',
    title: 'Installs from an address or a repository',
    why: 'The content of an address or a repository can change at any time.',
    remediation: 'Name a commit, or install from the registry.',
    references,
    patterns: [
      regex`${installer}\s[^\n\uE000;|]{0,60}(git\+(https|ssh):|https://|github:)\S|--(extra-)?index-url[ =]\S|
        ["']git\+(https|ssh)://(?=${forge})?|\bgit clone {1-100 in line}(&&|;|\n)\s?cd [\w.-]{1,40}\s?(&&|;|\n)\s?
        (\./install\.sh|bash install|\./setup\.sh|make install)`,
    ],
  },
  {
    id: 'unpinned-install',
    category,
    severity: 'low',
    signal: 'power',
    title: 'Installs the newest version, whichever it is',
    why: 'If an attacker takes over the package, the next installation runs the attacker’s code.',
    remediation: 'Pin the version.',
    references,
    patterns: [
      within(60, lineStop, '@latest|npx -y|npx --yes|--break-system|uvx | -g |--upgrade')`${installer}
        … @latest\b|(?<=npx )-y\b|(?<=npx )--yes\b|--break-system-packages|(?<=uvx )[\w-]{2,40}(?![@=\w-])|
        \s-g\s(@?[\w-]{2,40}/)?[\w-]{2,40}(?![@=\w-])|--upgrade\s[\w-]{2,40}(?![=\w-])`,
    ],
  },
]
