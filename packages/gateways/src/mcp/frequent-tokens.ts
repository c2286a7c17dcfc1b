// cspell:disable
/** The most frequent words of descriptions that are one token of `o200k_base`, even capitalized after a space. */
const words =
  'and the for or to use when with this skill in on is data of that user from API AI it an you agent using by code your ' +
  'patterns design via NOT agents what into security management not are analysis as do create up search build cloud based ' +
  'time testing covers model building before review any through content context integration one can project web manage how ' +
  'test performance needs files system plan file CLI flow real generate work access specific all service new platform run ' +
  'guide asked structured creating write no without server need configuration about including at tasks architecture only ' +
  'tools multi applications first google setup quality skills task custom systems check product text email writing set tool ' +
  'app trigger development be control research where source key network read local so workflow audit rules every full ' +
  'between get document team state production framework memory query my their automation process error optimization type md ' +
  'event best video deployment handling status they them knowledge each feature decision tracking list supports structure ' +
  'like business tests level after validation report native models implementation should token users session react against ' +
  'REST language projects which meeting high pipeline CI issues application output strategy multiple requirements standard ' +
  'other changes documentation components does vs find complete then risk single end UI change requests next client who ' +
  'response page working documents make component configure planning image over services python request notes cross ' +
  'database post cost chain authentication SDK tokens help health generation selection setting action voice metrics ' +
  'protocol identify support reference operations account routing apps events track actions market see per policy org ' +
  'financial identity its images behavior storage docs js existing add right chat command zoom running logs features core ' +
  'types questions record contract prompt queries deploy update execution call metadata JSON safe human format send brand ' +
  'messages open implement requires base analytics order browser ready mobile experience has external have line processing ' +
  'me reports live NET if built marketing field social incident message runs step plugin scripts sales two layer migration ' +
  'commands sessions admin go self deep auto approval package version records schema form both job out creation re more ' +
  'instead markdown own domain technical keywords than customer powered fix sync CD runtime environment mode sharing ' +
  'release detect mapping clean calendar async zero must templates uses non sources information style whether pages ' +
  'professional assessment current audio log node case results actually never channel start most teams clear but script ' +
  'calls checks engineering smart expert just company pricing usage permission view input template connect URL common ' +
  'dependency windows rate keep history ask communication summary media scope builder updates HTTP default while load HTML ' +
  'pre git long extract follow payment com during items endpoint why secure works same verification verify logic execute ' +
  'produce people bulk want modern someone value required coverage master graph keys brief steps public turn fetch free ' +
  'name errors pattern side issue path object azure registry stack activity trade CRM monitor directory we PDF draft day ' +
  'wallet conversation semantic limits rule three developer effective traffic internal description criteria config delivery ' +
  'coding AWS apply target advanced background batch screen transactions managed budget contracts repo videos dashboard ' +
  'json launch manager provide capture trust interactive daily posts map because also credentials crypto surface topic ' +
  'question route role failure handle validate plus convert enterprise reading workspace credential distributed collection ' +
  'reviews backend auth vue fast invoke visual static already used general back generated following telegram off ' +
  'dependencies scan handles register emails signals shared schedule library define flag points engine loop training ' +
  'container IP answer writes channels options controls references checking link owner creates impact large plans includes ' +
  'site price active attack game software cover upload navigation evaluation explicit these lead enable problem machine ' +
  'store cache spec twitter complex block learning feedback goal adding docker tax alerts making device install red profile ' +
  'table stage legal actual drive pull profiles activate conversion DNS quote personal natural raw date ai bot hooks jobs ' +
  'pass written rather don layout entry PR news missing contact money de point edit CSS save stop everything flags week ' +
  'android vector tree story objects gateway push generic different weekly accounts portfolio perform root api resources ' +
  'simple assistant makes say share home presentation functions manual deal needed discover providers speech sandbox well ' +
  'evaluate wrong method answers progress gets always anti maps helps small servers organization interface prices ML ' +
  'download community rust commerce will desktop related SQL edge party vendor returns products now definition constraints ' +
  'group way settings values responses cause proper person was gap something copy connected move resource done paths ' +
  'english module tier commit payments care fields look formats reads correct implements parallel severity unit repository ' +
  'program cluster authorization outputs available forms login billing methods down phone devices weather password apple ' +
  'provider studio dynamic interaction within publish charts persistent top give good routes linux host focus CSV include ' +
  'plain contacts virtual gmail slide scale official instructions etc those close materials critical links branch variables ' +
  'archive play comments prediction know relationship initial under containers minutes number optional export investment ' +
  'grade class notifications sites interfaces backup named better quick prepare direct blog matching such ideas gate dev ' +
  'location authorized artifact sequence space bug window sets reply entity deck room part proxy once plugins show details ' +
  'third transform solutions logging word addresses inventory blocks chart SEO lists permissions composition would compare ' +
  'act clients threads middleware prevent vault helm ERC sw ensure private idea campaign numbers matrix intent debug ID ' +
  'queue volume stores alignment markets relationships modules bugs offline router roles cron discord many success tables ' +
  'rates merge cash finding scheduled boundary main scenario loading power browse codes submit break secret avoid names ' +
  'choose too resolution UX proposal tracker four partner versions score libraries index ownership checkout family ' +
  'confidence examples anything comparison architect retrieve net limit targets hard even phase transaction packages groups ' +
  'allows catalog operator certificate domains mission another theme short import calling asset thinking capacity things ' +
  'pro loss exists compatible hours quotes license CK visibility slides legacy automatic earn ticket our result doc entries ' +
  'pay competitive letter allocation privacy minimal angular buy developers timeline individual feed delete future ATT ' +
  'stories music board remote definitions size sign offer prep availability continuous author inspect persona articles sub ' +
  'traditional fine id reddit known take excel think tickets terms card bots global thing five note claim thread folder QR ' +
  'reduce IT patient scratch accuracy color shows shape low duplicate info slow recent balance sending keyword signal here ' +
  'fully connector catch until industry year swap function github chains connection hidden decode themes watch solution ' +
  'join fill breaking return essential classification category strict digital landing syntax math proof OS starting reader ' +
  'subscription layers functional forward stock growth truth editing body binary shell topics generator efficient practice ' +
  'reverse assignment consumer being there inside bridge conditions ad structures meta cases today signed days JWT due ' +
  'plate sell compute activation sleep languages cli increment amazon pet suite notification py talk pure later article ' +
  'metric lookup alert exact tone compose refresh streams still resolve fail tracks element registration completion ' +
  'appropriate scanner address rotation filter minute parse NFT art env bundle let sheet center prefer clinical TLS bitcoin ' +
  'mesh arena world terminal clone match overview cards dimensions major monthly fixed positions embedded green lambda java ' +
  'place estimate movement categories installation extensions motion levels variable exist protect KEY fault friendly ' +
  'choice communications doing boot split transfer statement leave SOC replace assets spark present purchase submission USE ' +
  'actor parent controller energy orders banana could typed hook instance early kind final either filters states speed ' +
  'month material ISO recommended cleanup nothing chrome elements section extension wide trusted office around click io ' +
  'brain tags property purpose shield life creator nano colors been ui reach preview defined drop digest last important ' +
  'grant flight diagram stress scores stream connections lets memo option switch parameters collections OCR hand tenant PHP ' +
  'headers pod listing IAM retry ONE measure tell maintenance optimal flash cold example bash easy pitch customers past ' +
  'posting provided presence true since creative translation asking meet living compression ethereum astro animation ' +
  'recommend stored lines getting claims accessible responsive trace shipping did promotion travel win website sound pick ' +
  'whole inputs ve FOR disk utility controlled shadow startup hub restore second kit may confirmation button trend QA diff ' +
  'fit instagram paid yield linear child cannot select made ll term cookies online character conditional apache exception ' +
  'fitness academic star judge utilities changed payload render detail warehouse column behind income hire member expenses ' +
  'procedure flutter moving owners am much stocks combine comment precision collect workers classic upgrade require below ' +
  'row item display actors prototype wire DOM recover often standing CRUD hour insurance express experiment editor zig ' +
  'looks choices rest argument inline big hosts potential keyboard README total signature exit wins companies co especially ' +
  'relay packet deliver formula range outline book distribution replacement classes covered series measurement PNG blocking ' +
  'everyone blue deprecated SSH OT GPU finance terraform foundation sf friend receive kata rewrite else modify agreement ' +
  'label formal dataset away ones ordering offers outside embed wrapper controllers objective perfect properties given ' +
  'technology silent means study ads thought visible adds confirm HTTPS SSR oracle'
/** The most frequent words that are one token only after a space and without a capital letter. */
const wordsAfterSpace =
  'across produces asks comprehensive triggers implementing wants provides detection standards MCP workflows monitoring ' +
  'apex practices strategies configuring designing managing automated activates infrastructure decisions guidance analyze ' +
  'driven says pipelines injection reviewing compliance debugging lifecycle analyzing interact threat flows builds ' +
  'microsoft enables lightning troubleshooting secrets evidence blockchain improve policies intelligence scanning ' +
  'escalation slack autonomous trading covering practitioner discovery platforms actionable generates generating failures ' +
  'optimizing endpoints vulnerabilities automatically mentions risks findings techniques optimize frontend understanding ' +
  'reporting whenever processes caching choosing accessibility frameworks deploying directly safety recommendations ' +
  'understand capabilities interview malware attacks tuning reusable scheduling prompts extraction rollback automate ' +
  'revenue environments conventions guides engagement marketplace scoring messaging integrations guidelines streaming gaps ' +
  'consistent indicators validating artifacts insights checklist modeling auditing costs vulnerability designs unified ' +
  'systematic modes analyzes gates enforcement principles evaluating defining governance applies deciding meetings enabling ' +
  'boundaries humans encryption integrating consistency identifying schemas specs detailed remediation playwright ' +
  'deployments formatting maintain architectural fixes audience protection reliable enforce preparing advice methodology ' +
  'goals malicious reputation recovery designed filtering assessing opportunities assess senior recurring involving ' +
  'problems naming hierarchy performing behavioral hybrid focused https ensuring programming stakeholder operational audits ' +
  'procedures capability inbox transcripts retention interactions architectures decide detects acceptance networks ' +
  'ecosystem bypass phishing relevant approach optimized onboarding facing applying slate outreach latency dashboards ' +
  'safely databases migrations itself webhook embedding analyst hosted specialist inference publishing scalable sensitive ' +
  'maintaining integrate requiring specialized strategic together briefing troubleshoot turns parsing retrieval intelligent ' +
  'improving investigating gathering suspicious summaries operate persistence summarize performs statistical readiness ' +
  'campaigns opportunity saying honest rendering querying robust organize locally configured keeps improvement fallback ' +
  'scenarios historical spreadsheet sheets fails consent penetration comparing quarterly narrative aligned drift updating ' +
  'complexity fetching fixing universal aware compromise privilege ransomware linking triggered territory vague layouts ' +
  'assumptions cadence conducting configurations expertise networking discipline collaboration concurrency tooling ' +
  'schedules detecting systematically transforms subscriptions stale calculation engineer websites baseline npm protocols ' +
  'mechanics conversations toolkit providing isn commits matters searching drafts operating targeting notion experiences ' +
  'deals reminders integrity outcomes exactly loops investigation decentralized concepts downstream repositories reasoning ' +
  'identifies negotiation transcription isolated isolation regression establishing identification mechanism CDN scans ' +
  'documented executive debt hiring objectives competitor enrichment leads compatibility signatures ensures migrate ' +
  'profiling tracing goes hunting screenshots backed spend assessments signing trends threats recommendation transcript ' +
  'specification gives explicitly coordination concrete follows incidents diagrams quantum styling developing ' +
  'positioning rollout standalone reviewer canonical reducing producing prevention proposals leadership effort KPI manages ' +
  'awareness competitors doesn surfaces deterministic bundled becomes morning separate inbound phrases presentations ' +
  'expectations specifications exploitation resolving graphs structural attacker mechanisms MFA referral memories verifying ' +
  'contained explore extracting backlog ranked stages entire accounting sends earnings supply vite demand programs outcome ' +
  'similarity scaling journey compromised replies configurable beyond packaging documenting selecting extracts diagnose ' +
  'approaches searches balances equity organizational captures collaborative lightweight funding organizing executing ' +
  'happens transitions migrating workloads feeds embeddings evolution enforcing trending concurrent wallets functionality ' +
  'converting clarity readable computing explain preparation dedicated concise enough specializing preserving reuse ' +
  'diagnosing monitors prose reliability legitimate passwords unauthorized budgets wiring YAML prioritize timing accepts ' +
  'sentiment determine leverage modifying causal repos harness citations preventing defense forensic segmentation prevents ' +
  'showing distinct checkpoint perspective semantics aura classify tailored targeted standardized visualization ' +
  'calculations correctness branching requirement synthesis grounded formatted customization estimates various animations ' +
  'provisioning simulate consumption indexing mocking abuse certificates lineage encrypted installing compliant syncing ' +
  'reactive storefront variance firmware executes sequencing cowork SLA turning prioritized recording exposure breakdown ' +
  'implementations correctly sizing invoices outlook validates stacks efficiently anomaly telemetry analyzer phases ' +
  'accurate lateral US folders centralized ranking latest resilience factor papers effects spending great games fun mint ' +
  'whisper chinese typography acts reset ship basic prove serves expensive worth priority bias expected moves effectively ' +
  'takes reconciliation annual drivers releases GDPR coordinates prospect combining failing await kotlin faster agenda demo ' +
  'propose forecasts words updated remove trades curve advisor similar primary CPU incremental directories annotations ' +
  'inspection mining preference downtime manipulation defines hash technique AD suspected traces nodes guest instances RPC ' +
  'kernel engines header integrates coordinate proven thresholds trail grid CDC beta spring industries handler companion ' +
  'vote finder escrow BEFORE skip computer GPT benchmark organized tab CSP attention responding bad isolate communicate ' +
  'combines activities matter workload polished intel broken scoped likely partial approved sector changing cycle stay ' +
  'transition descriptions establish rigorous measures preferences treat lost shares max pressure outbound un diagnosis ' +
  'sections alternative passive organizations SMS measuring VM jira connectivity composite ROI governor nonprofit school ' +
  'lane listings paper japanese tweets slash engineers conversational oriented literature looking stakeholders snapshot ' +
  'suggestions fits few tech closing credits supporting candidate breach immediately instant title personalized warm ' +
  'challenge count facebook exports paste prior ratings connecting calculate verified dive mistakes unique curves fund ' +
  'independent unless old frame reason worker starts transformation warnings alternatives lock wizard six investigate ' +
  'repeated pairs differences saved locations seconds JS styles ways periodic grants double provenance attackers PCI ' +
  'binding separation posture threshold firewall authenticated labels namespace SOAP continuity machines tuned repair ' +
  'spacing predictions redis drives economy pagination portal polygon participate reality compete subtitles increments RSS ' +
  'opus direction defaults powerful interacting capturing approve carry toward hands filesystem needing scaffold trees ' +
  'develop guided situation analysts considerations empty period journal expense candidates HR sourcing areas subject ' +
  'gather upcoming describe callback alone specifically battle timelines forecast position stripe calendars attachments ' +
  'invoice matched depth mixed maintains credit MUST instruction become refine stated typing traps times XML binaries ' +
  'installed realistic facts taking para sustainability failed land difference left topology bun ts guards glossary ' +
  'friction keeping vertical exercises stable console sh hashes attachment exchange correlation genuine replication respond ' +
  'forge patch tiers swiss fundraising ORM FSC gas lit fees brave sui parameter feel mutations false whose variant stuck ' +
  'navigate leading customize segments null hypothesis supported kafka approvals priorities authority decomposition sample ' +
  'benchmarking consistently employee contextual regulatory hold head ideal concerns clearly consumers swift collaborate ' +
  'challenges roadmap sprint interviews rank quota optionally margin least roll landscape rationale formulas banking ' +
  'completed wait interest logistics omni bar focuses personas DO hot leaked pack sender figure abstract maturity ' +
  'certification length created preserve simulation signs atlas clusters holds attempts navigator matrices internet ' +
  'timestamps vectors securely survive hypotheses exposed denial entities origin unlike zone routine spawn adoption queues ' +
  'widget experiments dead waste subscribe chaos discount gift personality umbrella closure cognitive mac months curl ' +
  'original anyone viewing picks arguments receipts entirely walk churn terminology loads extend conduct filling offs ' +
  'statements books booking placement agreements delegation deadlines pillars owns flexible versus investor managers ' +
  'picture hygiene dates staff mail rubric economics moment focusing diligence anonymous cheap aggregate swaps government ' +
  'accountability hoc delegate unread branding maximize crash dynamically replacing hosting string replaces guessing MP ' +
  'conference speaker licensing conflicts instantly vocabulary years matches ingestion random upstream ethical canvas dark ' +
  'correlate habit bridges switching possible mandatory authenticate attribute intrusion cyber kill attributes rights ' +
  'escalate physical alpine coordinating involves radius suites OCI alpha burn funnel switches connects splitting en ' +
  'polling savings fabric SVG yes spotify silicon algorithms opening some BLE invoked passes wrap dangerous coming stats ' +
  'variants freshness limiting recognition bank compensation box uploads quickly milestones buttons handlers parity decks ' +
  'risky recipe front yourself compile macro thesis acquisition fair snapshots consensus mention highest PE businesses fee ' +
  'finds contains enter append port sourced reflection compiler hardware DB operators enabled decided rebuild sent ' +
  'visualize smoke durable factory learn verdict law visit minimize counts pool micro atomic decides slices dimensional ' +
  'added IOC enumerate proactive formerly deployed converts hunt force zones middle encoding overhead reduces algorithm ' +
  'nested operation precise improves translate vision methodologies scalability opt mock DR valid attendees notify ' +
  'emergency places viral todo voices BTC bookmarks violations sort animated pair themselves installs solve fresh try ' +
  'disclosure delta correction helping attribution comes incoming driving uploaded anomalies joins contrast going breaks ' +
  'samples reviewed extending proposed house clause completeness forecasting lives improvements combined comparisons ' +
  'customizable practical might sharp todos assignments urgent AR ups destination views immediate useful bill miss ' +
  'valuation players integrated peer attached fundamentals volatility corporate mapped checkpoints merging invocation ANY ' +
  'were committing sized expo announcement theft avoiding heavy unrelated replay cat upgrading silently edits delivered ' +
  'saving alive authored eval EU region weight usually recorded above ordered predictable flights photo tells blocked ' +
  'others pending optimizer presets jest branches exploit lint adherence engagements kerberos informed families ' +
  'reconnaissance defensive entra TV golden CIS continuously sigma bundles securing segment VPN transformer weak teaches ' +
  'cycles adaptive enhanced asynchronous solving throughput recursive SMTP face units solidity synchronization recall ed ' +
  'forces ranges exporting pact transactional properly disaster synchronized foundational adapters synchronous construction ' +
  'edition customizing appear soft bearer cursor vehicle slot ETH epic fight momentum honestly mini boards food heartbeat ' +
  'affiliate exploration philosophy piece measured visually published receipt science delivering drafting won aggregation ' +
  'AA touch usability polish consequences ranks qualified professionals reconcile benefits screening rapid feels pile ' +
  'procurement refinement composing browsing scopes phased diagnostics GTK helper scene retries productivity tabs pulse ' +
  'gated delivers runway pulls chaining walks started taxes deadline institutional happened committee sensitivity buyer ' +
  'contain round basis suitable estate emotional broad maintained allow tune positive previous produced throughout minimum ' +
  'leaks defect leak editable chats remember seed essay submissions returning genuinely vulnerable directive weeks regional ' +
  'assume leaving significant constraint locate bring deletion scenes finish driver dual consuming beats parses SSL cobalt ' +
  'strike configs volumes modifications deleted cryptocurrency ICS leakage scraping plane scripting warning swagger near ' +
  'flaws AES air temporal successful maximum administration hierarchical backups measurable begins ECS manifests traversal ' +
  'yahoo hit flagged contexts layered graceful assumption GB adapter abstraction serve tolerance drops efficiency phoenix ' +
  'journeys engage separates residency hydration inspired django entitlement restrictions http highlights holdings half pub ' +
  'trap permanent KB north framing draw council partnership la qu habits bilingual yt molt leaderboard mood html pdf ' +
  'overrides curated pairing aren evaluates ESP loaded picking causes progressive convention gh tracked extra datasets ' +
  'normal reported categorize encountering spot CTA wording staging ahead mid balancing coherent equipment arrives ships ' +
  'sequences benchmarks wrapping exceptions iterative transport promise rich participant unity PM overdue demos SMB ' +
  'workbook selling explains profit populate columns checker packs bond IQ fact assertions reviewers noise VS clustering ' +
  'compiled EF frames symbols symbol diagnoses collects discovered found unnecessary central recipes concept sees meaning ' +
  'reliably converted leader really implicit yet explaining reaches deliberately bounded stops shown disciplined clauses ' +
  'pools indexes containment light shapes tag conflict briefs destructive exercise contents temporary typically ' +
  'transparency CT blob beacon defenses print regular transfers interception tactics registered DSS protects elastic ' +
  'leveraging alongside LDAP leaves behaviors educational indicator forgotten psychological exploits characteristics accept ' +
  'admission primitives mutual called FA blast manufacturing preferred spam limited staking homepage propagation bandwidth ' +
  'signup upgrades ongoing assumes scrape normalization weights effect threading lazy ios AC advance milestone splits ' +
  'subscriber pain insert prefix funds freeze overflow ledger got armor OTP timezone economic estimation MIT ml crisis pm ' +
  'pixel mind payout parking buying el con MEMORY friends prayer xyz workouts garden shot onto USB identical demonstrate ' +
  'competition twice rendered SSE pulling lab cell researcher publication theory translating interpreting statistics props ' +
  'studies lens catching relevance assists band span calibration country NDA sequential consolidated gen executable ' +
  'enrollment recordings talking masking bridging waiting renders area achieve brainstorm exploring sense unknown whatever ' +
  'weighted proactively exported suggests happen reminder late didn refund screens earlier tight projections capital ' +
  'specify periods cohort harvesting cascade browsers simplify readers minimizing put operates excessive strings regex ' +
  'serialization collecting dumps dump differ url lifetime corruption lived rotate submitting resume observed newsletter ' +
  'avatar regulation taxonomy fire indexed probability thousands scroll unavailable commercial negotiate trip ERP caused ' +
  'anywhere phantom wind RFC grill mine staged biggest brands observe loader removed forwarding geographic mappings pivot ' +
  'defender aqua sentinel shift counter quarantine IDS ports fleet undocumented hides insecure culture less routers ' +
  'released effectiveness scheme bit detected discussions none fork dictionary CC controlling preset fundamental tweet ' +
  'tolerant merges selects emotion healthy CMS purchases multiplayer members DX rows student seasonal registering cancel ' +
  'relational unlocked ingest household worse optimistic validated OSS CLS career moderation ladder medical bet weekend ' +
  'quietly corrective champion voting niche appeal assistance subjective station confirmations photos hearing SF delegates ' +
  'ar assistants SOL soul claw deduction aesthetic benefit worked font chosen DM onboard serial maker catches widgets ' +
  'picker knows expose determines distribute playground ins GEO bio answering assigning analyses figures performant ' +
  'analytical significance ADR grouped translates payroll uploading workforce rating bases researching implications ' +
  'proceeding determining headline nurture clarify monday callbacks responsibilities researches gracefully accountant ' +
  'pasted feeling'
/** Characters beyond ASCII that are each one token. */
const characters =
  '¡¢£¤¥¦§¨©ª«¬®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿĀāĂăĄąĆćĈĉċČčďĐđē' +
  'ėĘęěĝĞğġģħĩīįİıĵķĺļľŁłŃńņňŋōŐőŒœŘřŚśŝŞşŠšŢţťŨũūŭůűųŵŷŸŹźŻżŽžſƏƐƒƙƠơƯưǎȘșȚțɑɓɔɗəɛɵʻʼˆ˚˜˝΄ΆΈΌΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣ' +
  'ΤΥΦΧΨΩάέήίαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώЁЂЄЅІЇЈЎАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэ' +
  'юяёђѓєѕіїјљњћќўџҐҒғҗҙҚқҟҠҡңҧҩҫҭҮүҰұҲҳҵҶҷҺһҽҿӘәӡӣӨөӯӷԥԱԲԳԴԵԸԹԺԻԼԽԾԿՀՄՅՆՇՈՉՊՌՍՎՏՐՒՓՔՕՖ՛՝՞աբգդեզէըթժիլխծկհձղճմյնշ' +
  'ոչպջռսվտրցւփքօֆև։־אבגדהוזחטיךכלםמןנסעףפץצקרשתײ׳״،؛؟ءآأؤإئابةتثجحخدذرزسشصضطظعغـفقكلمنهوىي٠١٢٣٤٥٦٧٨٩٪٫٬ٹٺٻټٽپٿڀځ' +
  'ڃڄڅچڇڈډڊڌڍڏڑړڕږژڙښکڪګڭگڳڵںڻڼھۀہۃۆۇۈۋیۍێېے۔ە۰۱۲۳۴۵۶۷۸۹۽۾अआइईउऊएऐऑओऔकखगघङचछजझञटठडढणतथदधनपफबभमयरऱलळवशषसहऽक़ज़ड़ढ़फ़।॥०' +
  '१२३४५६७८९॰অআইউএওকখগঘঙচছজঝঞটঠডঢণতথদধনপফবভমযরলশষসহৎড়ঢ়য়০১২৩৪৫৬৭৮৯ৰৱ৷ਅਆਇਈਉਏਐਓਕਖਗਘਚਜਝਟਠਡਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵਸ਼ਸਹਜ਼ੜ੧੨અઆઇઈઉ' +
  'એઓકખગઘચછજઝટઠડઢણતથદધનપફબભમયરલળવશષસહ૦૧૨૩૪૫૬૭૮૯ଆଇକଗଙଚଛଜଟଡଣତଥଦଧନପବଭମରଲଳଶଷସହୟஅஆஇஉஎஒகஙசஜஞடணதநனபமயரறலளழவஷஸஹఅఆఇఈఉఎఏకఖగ' +
  'చజటడణతథదధనపఫబభమయరలళవశషసహಅಆಇಈಉಎಐಒಕಖಗಘಚಜಟಠಡಢಣತಥದಧನಪಫಬಭಮಯರಲಳವಶಷಸಹ೦೧೨അആഇഈഉഎഐഒഓകഖഗഘങചജഞടഠഡണതഥദധനപഫബഭമയരറലളഴവശഷസഹൺൻർ' +
  'ൽൾඅඑඔකගඟචජටඩණතථදධනඳපබභමඹයරලවශෂසහළกขคฆงจฉชซญฎฏฐฑณดตถทธนบปผฝพฟภมยรฤลวศษสหฬอฮฯะาำเแโใไๆ๑๒ນາ་སကခဂငစဆဇညဏတထဒနပဖဗဘမယရ' +
  'လဝသဟအဥ၀၁၂၃၄၅၆၇၈၉၊။၍၏ၚၾၿႀ႐႔႕აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰកខគងចជញដណតថទធនបផពភមយរលវសហឡអ។៖ៗ០១២៣៤៥៦៧៨៩ḓḥḽṁṃṅṇṋṛṢ' +
  'ṣṭṱẠạẢảẤấẦầẨẩẫẬậẮắằẳẵẶặẸẹẻẽẾếỀềỂểễỆệỉỊịỌọỏỐốỒồỔổỗỘộỚớỜờỞởỡỢợỤụỦủỨứừửữỰựỳỷỹἀἐὐὰὶίὸῖῦῶ‐‑–—―‘’‚“”„‟†‡•․… ‰′″‹›※‼₂' +
  '₪€₹℃№™ΩⅠⅡⅤⅴⅼ←↑→↓⇒∀∆−∙√∞∨≈≤≥≫①②③④⑤─━│┃├┣═║╗╝▀▄█▋░▒▓■□▪▫▬▲△▶▷►▼▽◆◇○◎●★☆☎☴☺♀♂♡♥♦♪♫✅✓✔✨❤➡⠀⭐⭕、。〈〉《》「」『』【】〒〔〕〖〜ぁあいうぇ' +
  'えおかがきぎくぐけげこごさざしじすずせぜそぞただちっつづてでとどなにねのはばぱひびふぶぷへべほぼぽまみむめもゃやゅゆょよらりるれろわをんァアィイウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチッツテデトドナニネノ' +
  'ハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロワンヴヶ・ーヽㅇㅋㅎㅠㅡㆍ㎡가각간갈감갑값강같개객거건걸검겁것게겠겨격견결겼경계고곡곤골곳공과관광괴교구국군굴궁권귀규균그극근글금급기긴길김까깔깨꺼께껴꽃꾸꿈' +
  '끄끌끔끝끼낌나난날남납났내낸낼냈냐냥너널넘네넷녀녁년념녕노논놀농높놓누눈뉴느는늘능니닉닌님닝다닥단닫달담답닷당대댓더덕던덤데델도독돈돌동돼됐되된될됨됩두둘뒤드득든들듯등디딩따때떠떤또뜨뜻라락란람랍랑래랙랜램랩랫략량러럭런' +
  '럴럼럽렇레렉렌렛려력련렬렴렵렸령례로록론롤롭롯뢰료루룸룹류률르른를름리릭린릴림립릿링마막만많말맛망맞매맥맨머먹먼멀메멘며면명몇모목몬몰몸못무문물뮤므미민밀밍및바박밖반받발밤방배백버번벌범법베벤벨벽변별병보복본볼봉봐봤부북' +
  '분불붙뷰브블비빈빌빙빛빠뿐쁘쁜사삭산살삼상새색생샵서석선설섭성세센셀셔션셜셨소속손솔송쇄쇼수숙순술숨쉬쉽슈스슨슬슴습슷승시식신실심십싱싶싸써쓰쓴씀씨씩씬아악안않알암압았앙앞애액앤앨야약양어억언얼엄업없엇었에엔엘여역연열염' +
  '였영예오옥온올옵와완왔왕왜외요욕용우욱운울움웃워원월웠웨웹위윈유육윤율융으은을음응의이익인일읽임입있자작잔잘잠잡장재쟁저적전절점접정제젝젠져졌조족존좀종좋좌죄죠주죽준줄중줘즈즌즐즘증지직진질짐집짓징짜짝째쪽찌찍차착찬찮찰' +
  '참창찾채책처척천철첨첫청체쳐쳤초촉촌총최추축춘출춤충춰취츠측층치칙친칠침칭카칼캐커컨컬컴컵케켓켜코콘콜콩쿠큐크큰클큼키킨킬킹타탁탄탈탕태택터턴털테텍텐텔템토톡톤통퇴투튀튜트특튼틀티틱틴팀팅파판팔패팩팬퍼페펴편평폐포폭폰폴' +
  '폼표푸풀품풍퓨프픈플피픽핀필핏핑하학한할함합항해했행향허헌험헤혀혁현혈협형혜호혹혼홀홈홍화확환활황회획효후훈휘휴흡흥희히힌힘ﬁ！％＆（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＫＭＮＯＰＲＳＴ［＼］＾' +
  '＿｀ｅｍｗ｜～｡｣､･ｯｰｲﾉﾜﾞﾟ￣￥￼�' +
  '\u0300\u0301\u0302\u0303\u0306\u0308\u0309\u030a\u030c\u0323\u0327\u032d\u05b0\u05b4\u05b5\u05b6\u05b7\u05b8\u05b9\u05bc\u05bf\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652\u0653\u0654\u0670\u0901\u0902\u0903\u093c\u093e\u093f\u0940\u0941\u0942\u0943\u0945\u0947\u0948\u0949\u094b\u094c\u094d\u0981\u0982\u0983\u09bc\u09be\u09bf\u09c0\u09c1\u09c2\u09c3\u09c7\u09c8\u09cb\u09cc\u09cd\u0a02\u0a3c\u0a3e\u0a3f\u0a40\u0a41\u0a42\u0a47\u0a48\u0a4b\u0a4c\u0a4d\u0a70\u0a71\u0a82\u0a83\u0abe\u0abf\u0ac0\u0ac1\u0ac2\u0ac3\u0ac5\u0ac7\u0ac8\u0ac9\u0acb\u0acc\u0acd\u0b3e\u0b3f\u0b40\u0b41\u0b47\u0b4b\u0b4d\u0bbe\u0bbf\u0bc0\u0bc1\u0bc2\u0bc6\u0bc7\u0bc8\u0bca\u0bcb\u0bcd\u0c02\u0c3e\u0c3f\u0c40\u0c41\u0c42\u0c43\u0c46\u0c47\u0c48\u0c4a\u0c4b\u0c4c\u0c4d\u0c56\u0c82\u0c83\u0cbe\u0cbf\u0cc0\u0cc1\u0cc2\u0cc3\u0cc6\u0cc7\u0cc8\u0cca\u0ccb\u0ccc\u0ccd\u0cd5\u0cd6\u0d02\u0d3e\u0d3f\u0d40\u0d41\u0d42\u0d43\u0d46\u0d47\u0d48\u0d4a\u0d4b\u0d4d\u0d57\u0d82\u0dca\u0dcf\u0dd0\u0dd1\u0dd2\u0dd3\u0dd4\u0dd6\u0dd8\u0dd9\u0dda\u0ddc\u0ddd\u0e31\u0e34\u0e35\u0e36\u0e37\u0e38\u0e39\u0e47\u0e48\u0e49\u0e4a\u0e4b\u0e4c\u0e4d\u102b\u102c\u102d\u102e\u102f\u1030\u1031\u1032\u1033\u1036\u1037\u1038\u1039\u103a\u103b\u103c\u103d\u103e\u1088\u108f\u17b6\u17b7\u17b8\u17b9\u17ba\u17bb\u17bc\u17bd\u17be\u17c0\u17c1\u17c2\u17c3\u17c4\u17c5\u17c6\u17c7\u17c8\u17c9\u17ca\u17cb\u17cc\u17cd\u17cf\u17d0\u17d2\u20e3\ufe0e\ufe0f' +
  '一丁七万三上下不与专且世业东丝两严个中丰串临为主丽举久么义之乌乎乐九也习乡书买乱乳亂了予争事二于云互五井亚些交产享京亮亲' +
  '人亿什仁仅今介从仕他付仙代令以们件价任份企伊休众优会伟传伤伦伯似但位低住体何余作你佳使來例供依価便俄保信修俺個倍候倫值假' +
  '做停健偷備像價優儿元充先光克免兑党入全八公六兰共关兴兵其具典养内円册再写军农冠冲决况冷冻准减几凰出击函分切划列刘则刚创初' +
  '判別利别到制刷券刺刻前剧副力办功加务动助势勒動務勤包化北区医區十千升午半华协卓单卖南博占卡卫印即却厂厅历压原去县参又及友' +
  '双反发取受变口古句另只叫可台史右号司吃各合吉同名后向吗否吧吨含听启吸吹告员呢周味呼命和咨品哈响員哥哪唐售商啊問啦啪善喜喷' +
  '嘛噜器四回因团园围国图國圖土圣在地圳场址均块坚坛型城域培基堂報場境增士声売处备変复夏外多夜够大天太夫央失头奇奖套奥女奶奸' +
  '她好如妇妈妹妻始姐委威娘娱婆婚婦婷媒子字存季学孩學宁它宅宇守安完官定宝实実审客宣室害家容宾宿密富察对导対封射将尊小少尔尚' +
  '就尼尽尾局层居届屋展属山岁岛峰島川州工左巧巨差己已巴币市布师希带師席帮常幅幕干平年并广庄庆床序库应底店府度座庭康延建开异' +
  '弊式引张強强归当录形彩影往征径待很律後得微德心必志応快念态怎思急性总恐息您情惠想意愛感態慰戏成我或战截户房所手才打托扣执' +
  '扫批找承技把抓投折护报担拉拍招择括拿持挂指按挡捕损换据授排探接控推描提插搜摄摘摸播撸操支收改攻放政故效救教数整文斗料断斯' +
  '新方施旅族旗无日早时旺昌明易星映春昨是显時晚普景智暂暴曜曰曲更書曾最會月有朋服望朝期木未末本术机杀权李材村束条来杯東松板' +
  '极构析林枚果架某染查标树校样核根格案梅梦检森検業楼楽概様模機次欢欧欲款歌止正此步武歳死残段母每毒比毛民气気水永求汇汉江池' +
  '污汽沙没河油治泉法波注泰泽洋洗洞津洲活派流测济浪海消涉涨淫深添清温港游湖湾源溪满漏演漫潮激火灵点為热無然照熟熱爆爰爱爵父' +
  '爽片版牌牛物特犯状狂狐狗狠独猜猫玄率玉王玩环现班現球理琪瑞甘生産用田由申电男画界留略番疑疗病発登發白百的皇皮盈益监盒盘盛' +
  '盟目直相省看県真眼着督知短石码研破确碰確示礼社祝神祥票禁福离秀私秋种科秒秘租积称移程税種稳稿究空突立站竞章童端笑符第等答' +
  '策签简算管箱篇篮籍米类粉精系約級素索紧細紹終組経結給經続網線編红约级纪纳线组细织终绍经绑结给络绝统继续维综绿编网罗罪置美' +
  '群翻老考者而聊职联聘聚聞職肉肖股育胆背胜能脑脱腹自至致舞航般艇良色艺节花苏若英范草荐荣药获菜菲营落著葡蕉藏藝虎號蛋蛛融血' +
  '行術街衣补表袜被装裸製襪西要見視覧见观规视览觉角解言計記設評話詳誉認語說説読調論警计订认让训议讯记讲许论设访诀证评识诉词' +
  '试诗诚话询该详语误说请诺读课谁调谈谢谱谷豆象豪豹販買費資質購贝负财责败账货质购贴贵费资赌赔赚赛赞赢走起超越趣足跑跟路身車' +
  '転載车转轮软轻载较辆辑输边込达迅过迎运近返还这进远违连迪述迷追退送适选透途這通速造連週遇過道遗遮選邀那邮部都配酒采释里重' +
  '野量金钟钱铁银链销锋错键镇長长門開間関關门闭问间闻队防阳阿附际陆陈降限院除险陵随障难雄雅集雨雪零雷電需露霸青非靠面革韩音' +
  '頻題願類页顶项顺须预领频题额風风飞食餐馆首香駅験马验骗體高魔鱼鲁麻黄黑默點鼎齐龙'

export const frequentWords: ReadonlySet<string> = new Set(words.split(' '))
export const frequentWordsAfterSpace: ReadonlySet<string> = new Set(wordsAfterSpace.split(' '))
export const frequentCharacters: ReadonlySet<string> = new Set(characters)
