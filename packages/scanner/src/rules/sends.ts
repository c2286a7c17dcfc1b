import type { Fact } from '../rule.ts'

/** All variables of a program at once, in the ways of many languages. */
export const wholeEnvironment =
  /\bjson\.(?:dumps|stringify)\s?\(\s?(?:dict\s?\(\s?)?(?:os\.environ|process\.env)\b(?!\.)|\bdict\s?\(\s?os\.environ\b|\bos\.environ\.(?:copy\(\)\.)?items\s?\(|\bobject\.(?:entries|keys|fromentries)\s?\(\s?process\.env\b(?!\.)|\$\(\s?(?:env|printenv|set)\b(?!\.)|\b(?:get-childitem|gci|dir|ls)\senv:|\bos\.environ\(\)|\benv\.to_h\b|\bjson\.stringify\s?\(\s?\{[^\n\uE000}]{0,120}\bprocess\.env\s?[,}]|\bgetenv\(\)|\b(?:env|printenv)\s?\|\s?(?:grep|base64|sort|curl|nc|gzip|xxd|egrep|awk|tee)\b|\b(?:env|printenv)\s>\s?[\w./~$]/

const curlAnchors = ['curl']

/** Ways in which data leave a machine. */
export const sends: readonly Fact[] = [
  {
    id: 'sends-data',
    patterns: [
      {
        anchors: ['.post', '.put'],
        match:
          /\b(?:requests|httpx|session|client|axios|got|needle|superagent|http)\.(?:post|put)(?:form)?\s?\(|\bfaraday\.post\b|\bnet::http\.post\b/,
      },
      {
        anchors: ['urlopen', 'urllib', 'fetch', 'request('],
        match:
          /\burlopen\s?\([^\n\uE000]{0,40}\n?[^\n\uE000]{0,200}\n?[^\n\uE000]{0,20}\bdata\s?=|\burllib\.request\.request\s?\([^\uE000]{0,240}\bdata\s?=|\bfetch\s?\([^\uE000]{0,160}\bmethod["']?\s?:\s?["'](?:post|put)\b|\burlopen\s?\(\s?(?:f["']|req\b|request\b)|\bhttps?\.request\s?\([^\uE000]{0,160}\b(?:post|put)\b/,
      },
      {
        anchors: curlAnchors,
        match:
          /(?:\b|(?<=\\n))curl\b[^\n\uE000]{0,160}\s(?:-d|-f|-t|--data(?:-binary|-raw|-urlencode)?|--form|--upload-file|-x\s?(?:post|put)|--request\s(?:post|put)|--json)\b/,
      },
      {
        anchors: [
          'sendmail',
          'send_message',
          'storbinary',
          'upload_file',
          'put_object',
          'sendbeacon',
          'uploadstring',
          'uploadfile',
          'uploaddata',
          'upload_from',
          'sftp.put',
        ],
        match:
          /\.sendmail\s?\(|\bsend_message\s?\(|\bstorbinary\s?\(|\bupload_file(?:obj)?\s?\(|\bput_object\s?\(|\bsendbeacon\s?\(|\.upload(?:string|file|data)\s?\(|\bupload_from_(?:string|filename|file)\s?\(|\bsftp\.put\s?\(/,
      },
      {
        anchors: ['invoke-restmethod', 'invoke-webrequest', 'iwr ', 'irm '],
        match:
          /\b(?:invoke-restmethod|invoke-webrequest|iwr|irm)\b[^\n\uE000]{0,160}-(?:body|infile|method\s["']?(?:post|put))\b/,
      },
      {
        anchors: ['nc ', 'ncat', 'scp ', 'rsync', 'aws s3', 'gsutil', 'rclone', '/dev/tcp'],
        match:
          /\|\s?(?:nc|ncat)\s[\w.$-]|\b(?:nc|ncat)\s[^\n\uE000|]{3,60}<\s?[\w.~/$]|\b(?:scp|rsync)\s[^\n\uE000]{1,120}\s[\w.-]{1,40}@[\w.$[-]{1,60}:|\baws\ss3\s(?:cp|sync|mv)\s|\bgsutil\s(?:-m\s)?(?:cp|rsync)\s|\brclone\s(?:copy|sync)\s/,
      },
      {
        anchors: ['gethostbyname', 'getaddrinfo', 'nslookup', 'dig '],
        match:
          /\bget(?:hostbyname|addrinfo)\s?\(\s?(?:f["']|\w{0,12}(?:query|domain|sub|chunk|encoded|payload|data))|\b(?:dig|nslookup|host)\s[^\n\uE000]{0,40}(?:\$\(|\$\{?(?:data|chunk|encoded|payload|b64|hex))/,
      },
    ],
  },
  {
    id: 'sends-to-address',
    patterns: [
      {
        anchors: ['http://', 'https://'],
        match:
          /\b(?:sends?|posts?|transmits?|uploads?|forwards?|exfiltrates?|reports?|syncs?|submits?|delivers?|relays?|pushes)\b[^\n\uE000]{0,120}?\b(?:to|via|at|with)\b[^\n\uE000.]{0,40}["'<(]?https?:\/\/(?!localhost|127\.)[\w-]/,
      },
    ],
  },
]
