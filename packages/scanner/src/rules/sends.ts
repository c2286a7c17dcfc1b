import type { Fact } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { containing } from '../match/pattern-tags.ts'

/** Expressions of many languages that read all environment variables at once. */
export const wholeEnvironment = regex`\bjson\.(dumps|stringify)\s?\(\s?(dict\s?\(\s?)?(os\.environ|
  process\.env)\b(?!\.)|\bdict\s?\(\s?os\.environ\b|\bos\.environ\.(copy\(\)\.)?items\s?\(|
  \bobject\.(entries|keys|fromentries)\s?\(\s?process\.env\b(?!\.)|\$\(\s?(env|printenv|set)\b(?!\.)|
  \b(get-childitem|gci|dir|ls)\senv:|\bos\.environ\(\)|\benv\.to_h\b|\bjson\.stringify\s?\(\s?\{[^\n\uE000}]{0,120}
  \bprocess\.env\s?[,}]|\bgetenv\(\)|\b(env|printenv)\s?\|\s?(grep|base64|sort|curl|nc|gzip|xxd|egrep|awk|tee)\b|
  \b(env|printenv)\s>\s?[\w./~$]`

const curlAnchors = ['curl']

/** Facts about commands and calls that send data. */
export const sends: readonly Fact[] = [
  {
    id: 'sends-data',
    patterns: [
      regex`\b(requests|httpx|session|client|axios|got|needle|superagent|http)\.(post|put)(form)?\s?\(|
        \bfaraday\.post\b|\bnet::http\.post\b`,
      regex`\burlopen\s?\({0-40 in line}\n?{0-200 in line}\n?{0-20 in line}\bdata\s?=|\burllib\.request\.request\s?\(
        [^\uE000]{0,240}\bdata\s?=|\bfetch\s?\([^\uE000]{0,160}\bmethod["']?\s?:\s?["'](post|put)\b|
        \burlopen\s?\(\s?(f["']|req\b|request\b)|\bhttps?\.request\s?\([^\uE000]{0,160}\b(post|put)\b`,
      containing(
        curlAnchors,
      )`(\b|(?<=\\n))curl\b{0-160 in line}\s(-f\s?["']?[\w.[\]-]{1,40}=|(-d|-t|--data(-binary|-raw|-urlencode)?|--form|
        --upload-file|-x\s?(post|put)|--request\s(post|put)|--json)\b)`,
      regex`\.sendmail\s?\(|\bsend_message\s?\(|\bstorbinary\s?\(|\bupload_file(obj)?\s?\(|\bput_object\s?\(|
        \bsendbeacon\s?\(|\.upload(string|file|data)\s?\(|\bupload_from_(string|filename|file)\s?\(|\bsftp\.put\s?\(`,
      regex`\b(invoke-restmethod|invoke-webrequest|iwr|irm)\b{0-160 in line}-(body|infile|method\s["']?(post|put))\b`,
      containing('nc |ncat|scp |rsync|aws s3|gsutil|rclone|/dev/tcp')`\|\s?(nc|ncat)\s[\w.$-]|
        \b(nc|ncat)\s[^\n\uE000|]{3,60}<\s?[\w.~/$]|\b(scp|rsync)\s{1-120 in line}\s[\w.-]{1,40}@[\w.$[-]{1,60}:|
        \baws\ss3\s(cp|sync|mv)\s|\bgsutil\s(-m\s)?(cp|rsync)\s|\brclone\s(copy|sync)\s`,
      containing('gethostbyname|getaddrinfo|nslookup|dig ')`\bget(hostbyname|addrinfo)\s?\(\s?
        (f["']|\w{0,12}(query|domain|sub|chunk|encoded|payload|data))|\b(dig|nslookup|host)\s{0-40 in line}
        (\$\(|\$\{?(data|chunk|encoded|payload|b64|hex))`,
    ],
  },
  {
    id: 'sends-to-address',
    patterns: [
      regex`\b(sends?|posts?|transmits?|uploads?|forwards?|exfiltrates?|reports?|syncs?|submits?|delivers?|relays?|
        pushes)\b{0-120 in line}\b(to|via|at|with)\b[^\n\uE000.]{0,40}["'<(]?https?://(?!localhost|127\.)[\w-]`,
    ],
  },
]
