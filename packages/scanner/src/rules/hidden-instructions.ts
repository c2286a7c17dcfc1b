import type { Rule } from '../match/rule.ts'
import { systemWordings } from './limit-wordings.ts'
import { byAuthor, passageStop } from './words.ts'
import { regex } from '../text/regex.ts'
import { containing, within } from '../match/pattern-tags.ts'

const category = 'hidden-instructions'
const references = [
  'https://atlas.mitre.org/techniques/AML.T0068',
  'https://cwe.mitre.org/data/definitions/1427.html',
  'https://cwe.mitre.org/data/definitions/451.html',
]

/** An instruction to an agent in text that only the agent reads. */
const order = regex`\b((ignore|disregard|forget|override) (all |any |the |your |every )?
  (previous|prior|above|other|system|earlier|safety|user|instructions?)|you must (also|now|always|never|ignore|
  execute|run|send|read|call|include) |(do not|don't|never) (tell|inform|mention|reveal|notify|show (this )?to)|
  (secretly|covertly) \w|silently (send|run|execute|perform|read|collect|upload|copy|post|append|install|download)|
  system (override|prompt|message|instructions?|note)\b|(hidden|secret|real|actual|true|important|new|special|
  additional|agent|assistant|ai|claude|llm|model) {0-1 words}instructions?\b(?! (above|below|here)? ?-->)|
  (note|message|instructions?|attention|directive)s? (to|for) (the |all |any |your )?(ai|agents?|assistants?|llms?|
  models?|claude|scanner|reviewer|language models?)\b|(send|post|upload|forward|exfiltrate|transmit|curl|append|
  leak) [^<>]{1,80}(https?://|~/\.|\.env\b|credential|password|api[ _-]?key|token|secret|conversation|\.ssh)|
  (read|cat|open|include) [^<>]{0,40}(~/\.|\.ssh|\.env\b|credentials|/etc/passwd)|(curl|wget) [^<>]{1,120}\|\s?
  (ba|z)?sh\b|when (an |the |any |you,? the )?(ai|agent|assistant|llm|model|claude) (reads|sees|processes|encounters
  |parses|loads)|as an? (ai|llm|language model),? you|you are (now|an? (ai|unrestricted)))`

/** What is an order in a text without size or colour, and may be a remark in a comment. */
const unseenOrder = regex`\b(agent|assistant|claude), (please )?(fetch|send|read|run|list|open|append|copy|ignore|download|
  execute|collect|include|add|tell|upload|forward)\b|\bwhen (the |an? |any )?users? (asks?|wants?|opens?|requests?|mentions?|
  says?|types?|uses?)[^<>]{0,80}?,? (first|also|always|then|instead|you) \w`

/** Rules about instructions that are not visible on the rendered page. */
export const hiddenInstructions: readonly Rule[] = [
  {
    id: 'comment-instruction',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Gives instructions to the agent in a comment',
    why: 'A rendered page hides comments from the user, but an agent reads them.',
    remediation: 'Move the instruction into the visible text, or remove it.',
    references,
    regardless: true,
    patterns: [
      within(600, /-->/)`<!-- … ${order}`,
      within(200, /\n|\uE000/, '[//]:|[comment]:|[_metadata')`\[(//|comment|_metadata[\w:]{0,20})\]: … ${order}`,
    ],
  },
  {
    id: 'unseen-text',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Gives instructions to the agent in text that is not visible',
    why: 'Text without size, colour or display is read only by the model.',
    remediation: 'Show the text or remove it.',
    references,
    regardless: true,
    patterns: [
      within(300, regex`</(div|span|p|font|small|section)>`)`<\w{1,12}[^<>]{0,80}(display\s?:\s?none|
        visibility\s?:\s?hidden|font-size\s?:\s?[01](px|pt|em|rem)?\b|opacity\s?:\s?0(?![.\d][1-9])|
        color\s?:\s?(white|#fff(fff)?|transparent|rgba?\(255)|\shidden\b)[^<>]{0,80}>
        … ${order}|${unseenOrder}`,
    ],
  },
  {
    id: 'model-only-text',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Mentions text that the model reads and the user does not see',
    why: 'A skill has no legitimate reason to tell the agent something that its user must not read.',
    remediation: 'Write for agent and user alike, or remove the passage.',
    references,
    patterns: [
      within(
        90,
        passageStop,
        `invisible|cannot see|can't see|not visible|hidden from|only visible to|visible only to|only the ai
        |only the model|only the agent|not see`,
      )`\b(invisible (to|for) (the )?(users?|humans?|readers?|people)|
        (users?|humans?|readers?|people|they) (cannot|can't|do not|don't|won't|will not|will never) (see|read|
        notice)|not visible to (the )?(users?|humans?|readers?)|hidden from (the )?(human|view of)|
        what (the )?users? sees?)\b
        … \b((ai|llm|model|agent|assistant|claude)( systems?| models?| agents?| assistants?|s)?
        ( (can|will|to|does|do|still|would|should)){1,2} "?(see|read|process|follow|interpret|obey|parse|execute)\b|
        (ai|llm|model|agent|assistant|claude)s? (processes|sees|reads|interprets|follows|obeys)\b|
        (readable|visible|seen|processed|followed|interpreted) (by|to) (the |an? |any )?(ai|llm|model|agent|
        assistant|claude)|for (ai systems|the (ai|model|agent|llm)) to (follow|read|obey))`,
      regex`\b((only|solely|exclusively) (visible|readable|seen|intended|meant) (to|by|for) (the |an? |any )?
        (ai|llm|model|agent|assistant)s?\b(?! (team|engineer|provider))|(visible|readable|seen|intended|meant) (only
        |solely|exclusively) (to|by|for) (the |an? |any )?(ai|llm|model|agent|assistant)s?\b|
        only the (ai|model|agent|llm|assistant) (can|will|should) (see|read)|(the )?(human|user)s? (should|must|will
        |can) ?(not|never|n't) (see|read) this (section|text|part|comment|message|instruction))`,
    ],
  },
  {
    id: 'instruction-smuggling',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Puts hidden instructions into the documents that it creates',
    why: 'Hidden instructions attack everyone who lets an agent read the document.',
    remediation: 'Remove it. Recipients must be able to read everything that a skill writes.',
    references: [
      ...references,
      'https://atlas.mitre.org/techniques/AML.T0051.001',
      'https://atlas.mitre.org/techniques/AML.T0061',
    ],
    patterns: [
      within(40, passageStop)`((?<!\b(to detect|attackers?|adversar(y|ies)|not|never|may|might|can|could|that|and|or|
        they) )\b(embed(s|ding)?|inject(s|ing)?|insert(s|ing)?|plant(s|ing)?|smuggl(e|es|ing)|hid(e|es|ing)|
        encod(e|es|ing))\b)${byAuthor}
        … \b((hidden|invisible|covert|secret|zero-width|malicious|override|concealed) {0-2 words}(instructions?|
        prompts?|prompt injections?)|instructions? (invisibly|covertly|secretly|using (zero-width|invisible)|
        in (zero-width|invisible|white text))|prompt injections? into (the|every|all|any|each))\b`,
    ],
  },
  {
    id: 'fake-system-message',
    category,
    severity: 'high',
    signal: 'suspicious',
    title: 'Imitates a message of the system or of an administrator',
    why: 'Markers of the system role give the text an authority that a skill does not have.',
    remediation: 'Remove the markers, and write the requirements of the skill as plain text.',
    references: [
      'https://atlas.mitre.org/techniques/AML.T0051',
      'https://genai.owasp.org/llmrisk/llm01-prompt-injection/',
    ],
    patterns: [
      ...systemWordings,
      containing(`override|admin|moderator|superuser|system update|system_instruction|memory|system message|
        system prompt|jailbreak|persona activation|session_state|identity|instructions|injection|access|protection|
        activated|enabled`)`\[/?(end[_ ])?((critical|priority|emergency|new|important|begin|hidden|permanent|
        developer|root|security) ?[_ ])?(system|admin(istrator)?|moderator|superuser|developer|root|identity|memory|
        session|security|safety|persona|access|policy|session_state)( |_)-? ?(override|overrides|access|message|
        priority|update|prompt|instructions?|mode|store|bridge|protection|entry|memory_entry|activation|replacement|
        command|state_override|injection)([ :_-][^\]\uE000]{0,48})?\]|\[(jailbreak|god|dan|developer|unrestricted|
        admin) (mode )?(activated|enabled)\]|\[(permanent_memory_entry|memory_store[^\]\uE000]{0,30}|superuser|
        identity replacement)\]`,
      regex`(^|[\n\uE000>\][(-])\s?(#{1,5} ?)?((important|urgent|critical|attention|new|priority|begin|emergency)
        [ :!_-]{1,3}){0,2}(system[ _](override|prompt (update|override))|
        (?<=(important|urgent|critical|emergency|mandatory)[ :!_-]{1,3})system update|(admin|administrator|developer
        |security|emergency(?! override ?[\n\uE000])|safety|policy|root)[ _]override|new system prompt|new instructions? from (the )?
        (system|admin|developer|anthropic|openai)|override protocol)\b
        (?! (css|method|function|key|rate|manual|script|manager|check)) ?([:!\])]|\n|\uE000\s?\S{0,12}\s|activated|
        begin|-|protocol)`,
      within(240, regex`</(system|important|admin|override|developer)|\uE000\uE000|\[/inst\]`)`
        (</?(system|system[_-](prompt|message|override|reminder|instructions?)|important|admin|override|developer)>|
        <\|(im_start|system|start_header_id)\|>(system)?|\[inst\]|<<sys>>|(^|[\n\uE000])#{0,3} ?system: )
        … \b(ignore|disregard|forget|override) (all |any |the |your |every )?(previous|prior|above|other|system|
        earlier|safety|user)|you (are|have been) now (in |an? )?(unrestricted|dan|free|jailbroken|different|admin|
        authorized)|(do not|don't|never) (tell|inform|mention (this|these|it)|reveal this|notify) |
        before (doing|using|calling|running) (anything|any)|
        \b(send|post|upload|forward|exfiltrate) [^<>\uE000]{1,60}(https?://|~/\.|\.env\b)|
        \b(read|cat) [^<>\uE000]{0,30}(~/\.|\.ssh|\.env\b|/etc/passwd)|new (directive|instructions)\b`,
    ],
  },
]
