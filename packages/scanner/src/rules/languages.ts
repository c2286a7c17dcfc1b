import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { containing } from '../match/pattern-tags.ts'

/** The most common sentences in other languages that ask the agent to ignore its instructions. */
export const overrideElsewhere: readonly Pattern[] = [
  containing(
    '忽略|无视|忘记|忘掉|無視|忘記|不要遵守|不再遵守',
  )`(请|必须|立即|現在|现在)?(忽略|无视|忘记|忘掉|無視|忘記|不要遵守|不再遵守)(掉|你|您|所有|全部|一切|任何|之前|以前|先前|
    此前|以上|上述|前面|之前的|系统|的|在此){1,6}(所有)?(指令|指示|提示词|提示詞|规则|規則|命令|限制|设定)`,
  containing(
    '以前の|これまでの|前の|上記の|すべての|今までの|全ての',
  )`(以前の|これまでの|今までの|前の|上記の|すべての|全ての){1,2}(システム)?(指示|命令|プロンプト|ルール|制約)(を|は)
    (すべて|全て)?(無視|忘れ|破棄|上書き)`,
  regex`\b(ignora|ignore|ignorar|olvida|olvide|descarta|omite|desconsidere|esque[cç]a)\s(todas?\s|cualquier\s|
    tod[ao]s\s)?(las?\s|tus\s|sus\s|as\s|suas\s|os\s)?(instruc(ciones|ci[oó]n)|instru[cç][oõ]es|reglas|[oó]rdenes|
    indicaciones|directrices|regras)\s(anteriores|previas|del sistema|originales|iniciales|pr[eé]vias|do sistema)`,
  regex`\b(ignorez|ignore|oubliez|oublie|ne tenez pas compte de)\s(toutes?\s)?(les\s|tes\s|vos\s)?(instructions|
    consignes|directives|r[eè]gles|ordres)\s(pr[eé]c[eé]dentes?|ant[eé]rieures|ci-dessus|du syst[eè]me|initiales)`,
  regex`\b(ignorier(e|en sie|t)?|vergiss|vergessen sie|missachte[nt]?)\s(alle[rs]?\s)?(deine\s|ihre\s|die\s|der\s)?
    (vorherigen|bisherigen|vorigen|fr[uü]heren|obigen|vorangegangenen|urspr[uü]nglichen)\s(system)?(anweisungen|
    instruktionen|befehle|regeln|vorgaben|prompts)`,
  regex`(про)?(игнорируй(те)?|забудь(те)?|не следуй(те)?)\s(все\s|всем\s|любые\s|о всех\s|обо всех\s)?(твои\s|свои\s|
    ваши\s)?(предыдущи[ехм]|прежни[ехм]|прошлы[ехм]|системны[ехм]|предшествующи[ехм]|вышеуказанны[ехм])\s
    (инструкци|указани|команд|правил|промпт)`,
]

/** The most common sentences in other languages that hide something from the user. */
export const secrecyElsewhere: readonly Pattern[] = [
  containing(
    '用户|使用者|用戶',
  )`(不要|不得|切勿|禁止|绝不能?|千万不要|别|不能)(向|对|让|讓|對|跟)?(任何)?(告诉|告知|通知|提醒|告訴)(任何)?(用户|使用者|用戶)(?!如何)|
    (不要|不得|切勿|别|不能)(让|讓|被)(用户|使用者|用戶)(知道|察觉|发现|看到这|看出|發現|察覺)|(瞒着|背着|隐瞒|瞞著)(用户|使用者|用戶)`,
  regex`ユーザー(に|には)(は)?(絶対に|決して)?(知らせ|伝え|言わ|教え|通知し|報告し|気づかれ|気付かれ)(ない|ず|ては|てはいけ)`,
  regex`\b(no|sin|nunca|n[aã]o|sem)\s(le\s|se lo\s)?(digas?|decir(le)?|inform(es?|ar|e)|notifi(ques?|car|que)|
    avis(es?|ar|e)|menciones?|reveles?|conte|diga|mostr(ar|es))\s(\S{1,16}\s){0,4}?(al|a los|el|ao|aos|o)\s
    (usuarios?|usu[aá]rios?)\b`,
  regex`\b(ne|sans)\s(jamais\s|pas\s|le\s|rien\s){0,2}(dis|dites|dire|informe[rz]?|pr[eé]viens|pr[eé]venez|
    pr[eé]venir|mentionne[rz]?|r[eé]v[eè]le[rz]?|avertir)\s(\S{1,16}\s){0,4}?(l'|[aà] l'|aux )utilisateurs?\b`,
  regex`\b(dem|den|der)\s(be)?(nutzer|nutzern|anwender)(in)?\s(\S{1,16}\s){0,3}?(nicht|nichts|niemals|nie)\s
    (\S{1,16}\s){0,2}?(sagen|mitteilen|informieren|erw[aä]hnen|verraten|benachrichtigen|zeigen)\b|
    \bohne (wissen|zustimmung) de[sr] (be)?(nutzer|anwender)`,
  regex`не\s(сообщай(те)?|говори(те)?|рассказывай(те)?|упоминай(те)?|показывай(те)?|уведомляй(те)?|раскрывай(те)?)\s
    (\S{1,16}\s){0,4}?пользовател(ю|ям|я)|(без ведома|втайне от|скрытно от)\sпользовател`,
]
