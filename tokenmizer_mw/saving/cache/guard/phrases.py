"""Phrases and synonyms: words with the same meaning in a question. Each row is the meaning, ":", the phrases with "|"
between them, and ";". "(a/b/)" is a choice, of nothing at last.

A row must hold without exceptions, because a question with one of its words gets the response to a question with
another. Phrases are written in base forms ("be", not "is"), as they are looked up.
"""

from __future__ import annotations

from typing import Final

from .forms import words

QUESTIONS: Final = """
@how: how (to/do i/do you/do one/do people/can you/can one/would one/do you go about/to go about/do i go about/) |
(what be/what be the/what be a/what be an/what be some/be there/be there a/be there an/be there any/any/the/a/i be look
for a/) (best/good/easy/right/proper/correct/recommended/preferred/usual/simple/safest/simplest/easiest/)
(way/method/procedure/process/approach/command/syntax) (to/of/for) | (what be the/) (step/instruction/guide/trick/tip)
(to/for) | (show me/teach me/tell me/explain/learn/i forget/i do not know/i can not figure out/i be try to figure out/i
want to know/i need to know/i would like to know/i be not sure/i be wonder/any idea/help me understand/advice on/tip
on/walk me through/i want to learn) how to | teach me to | (what/which/what be the) command | the command that | the
way | what (must i/do i need to/do i have to/should i/can i/would i/do i) do to | (what/what be the/which) step (do
i/should i/) (follow/take) to | what (be involved in/do it take to); @how fast: (what be the/what be a/) (quick/fast)
way to; @how fastest: (what be the/) (fastest/quickest) way to; @how create: (what be the/what be a/what be a good/a
good/) recipe for; @how pronounce: (what be the/what be the correct/) pronunciation of; @how spell: (what be the/what
be the correct/) spelling of; @how compute: (what be the/) formula (for/of); @why: why | how come | (what be the/for
what/) reason (for/that/why/) | what (make/cause/be make/be cause/could cause/would cause/can cause) | explain why |
tell me why | (what be the/) cause of | what do it mean when; @when: when | whenever | every time | each time |
(at/on/in/) (what/which) (time/day/date/year/month/point) | (what be the/) (right/best/good) time (of year/of the
year/) to | (what be the/) date of | what time of (the/) year | (tell me/do you know/let me know/i want to know) when;
@where: where | (in/at/) (what/which) (place/city/location/file) | where about | whereabout | (what be the/where be
the/) location of; @who: who | whom | by whom | (what/which) person | who be the person (who/that) | what be the name
of the person; @whose: whose; @who write: (who be the/the/) (author/writer) of; @who invent: (who be the/) inventor of;
@who paint: (who be the/) painter of; @many: how many | (what be the/what be the total/the total/what/) number of;
@much: how much | (what be the/what/) (amount/quantity) of; @much cost: (what be the/) (price/cost) of | how
(expensive/costly) be | what price be | what do it cost to | how much (do it cost/be it) to; @long: (for/) how
(long/much time/many day) | (what be the/) duration of | (for/) what length of time | how (long/much time)
(do/will/would) it take (to/for/) | how many minute do it take to | how much time do i need to; @often: how
(often/frequently) | at what interval | (what be the/) frequency of; @what distance: how far (be it/) | what (be the/)
distance | distance; @what age: how old | (at/) what age | (what be the/) age of; @what height: how (tall/high) | (what
be the/) (height/elevation) of | what height; @what size: how (big/large) | (what be the/) size of | what size; @what
depth: how deep | (what be the/) depth of; @what width: how wide | (what be the/) width of; @what weight: how heavy |
(what be the/) weight of; @what speed: how (fast/quick) | (what be the/) speed of; @what temperature: how hot | (what
be the/) temperature of | (at/) what temperature; @what population: how many people (live/be there) in | (what be the/)
population of | how many (inhabitant/resident) do; @what difference: how do they (differ/compare) | how be they
different; @what instead: what can i use instead of | what can i substitute for | (what be a/what be a good/be there a)
substitute for | (what be an/what be a good/be there an) alternative to; say: how (do/can/would) (you/i/one) say | how
to say | what be the word for; @what: what (should i/can i/do i/must i/be i to) do (if/when/) | what | which | what be
all | (what/which) (kind/type/sort) of
"""
"""Phrases that ask for something, anywhere in a sentence. A meaning with "@" is a kind of question: "@when"."""

STARTS: Final = """
@what: tell (me/us/) (about/what/) | show (me/us/) what | what be | (i want to/i would like to/let me/i need to/do
you/do you happen to) know (about/) | (what be the/) name of | i be curious (about/what) | remind me (what/) | i (be/)
wonder | any idea (what/) | (information/info) (about/on); @explain: explain (what/to me/) | define | describe | (what
be/explain/) (the/) concept of | what be mean by | definition for | (what be the/give a/give me a/)
(definition/meaning) of | meaning | what do you mean by | (give/give me/) (an/the/) (explanation/overview) of | what
exactly be | help me understand (what/); @list: (give/show) (me/us/) | provide (me with/) | list | name | (give
me/make/) (a/) list of | enumerate | suggest | recommend | what be some
"""
"""Phrases that ask for something at the beginning of a request only ("tell me"); later in a sentence they are words
like others."""

LOOSE: Final = frozenset({"@what", "@explain", "@list"})
"""Kinds of questions that do not count if a question is also of another kind."""

MANNERS: Final = """
=: please | kindly | (hi/hello/hey) (there/) | thank | thanks | thank you | (thank/thanks) (in advance/a lot) | many
thanks | cheers | (i have/) (a/one/quick/a quick/stupid/dumb/silly/noob/simple/) question | quick one | (would/do) you
mind | (can/could) (somebody/someone/anybody/anyone) | (do/does) (anyone/anybody) know | please help (me/) | i (be/)
wonder if you could | i would (be grateful/appreciate it) if you could | excuse me | sorry (to bother you/) | good
(morning/evening/afternoon) | well | so | ok | okay | um | uh | oh | yo | dude | man | bro | mate | sir | madam | folk
| friend | guys | you guy | by the way | for me | to me | in general | all right | alright | also | right | eh | hmm |
you know | if you do not mind | if possible | if you can | let me ask | (can/may/could) i ask | i (want/would like) to
ask | (i/) need (some/) help (with/) | any help (appreciate/would be appreciate) | newbie here | (can/could) you help
(me/) (with/) | in short | briefly | real quick | asap | any idea | help | exactly
"""
"""Polite phrases at the beginning or end of a request; they are dropped."""

FILLERS: Final = words(
    """actually also basically ever generally guys honestly just literally maybe normally perhaps please really simply
    somehow somewhat typically usually very"""
)
"""Words that are dropped wherever they stand."""

ORDERS: Final = words(
    """brainstorm briefly calculate check clarify compare compose convert correct create define delete describe draft
    explain find fix generate give help list make name outline paraphrase please proofread provide quickly recommend
    remind rephrase reword rewrite shorten show sort suggest summarize teach tell translate walk write"""
)
"""Verbs before which "can you" is a polite request and no question: "can you list"."""

WANTS: Final = """
@how: i (want/need/would like/wish/have/would love) to | i (be/have be) (try/attempt/look/go/plan) to | help me (to/) |
(want/would like/need) to; =: (i/we) (need/want/would like)
"""
"""Wishes at the beginning of a request. They ask how to do something ("I want to restart it"), unless a verb of
``WRITTEN`` follows."""

WRITTEN: Final = words(
    """brainstorm compose correct draft generate outline paraphrase proofread rephrase reword rewrite shorten suggest
    summarize translate write"""
)
"""Verbs for what a model does itself: "help me write a letter" is an order, and does not ask how."""

MEANINGS: Final = """
delete: delete | remove | get rid of | erase | rid | wipe out | take off | take out | clear off | get off | clear |
drop | eliminate; stop: stop | prevent | keep from | avoid; fix: fix | repair | mend | solve | troubleshoot | sort out
| remedy | resolve; problem: problem | issue | trouble | difficulty; broken: not work | broken | stop work | do not
work | be not work | will not work | no long work | not function | out of order | damaged | defective | faulty; start:
start | begin | commence | launch; enable: enable | activate | turn on | switch on; disable: disable | deactivate |
turn off | switch off; start-up: power on | power up | boot | boot up | start up; shut-down: power off | shut off |
shut down | power down | shutdown; create: create | make | build | produce | generate | add | append | implement;
declare: declare | define; configure: configure | config | set up | setup; modify: change | modify | alter | edit |
amend | update my | update your | switch; replace: replace | swap out | substitute; instead: instead of | in place of |
substitute for | alternative to | replacement for | in lieu of; find: find | locate | look up | search for | look for |
discover | see | view | look at | display | show | check what | check which | see what | see which | find out what |
find out which | get | obtain | acquire | fetch | retrieve | determine | find out; use: use | utilize | utilise | make
use of; using: with the help of | by mean of | by means of | via | using; receive: receive | recieve; buy: buy |
purchase | make a purchase | order online; choose: choose | pick | select | pick out; need: need | require | necessary
| be need | needed | required | be require | necessity | mandatory | must | need to | have to | be required to | be
require to | be need to; ~can: can | could | may | might | be able to | able to | able | be it possible to | possible
to | possible | be it possible for | can be; ~allowed: allowed | allow to | be allow to | allow | permit | be permit to
| permitted | be it ok to | be it okay to | ok to | okay to | be it ok for | be it okay for | ok for | okay for | allow
for | be it fine to | be it alright to | be it all right to | permissible; ~should: should | ought to | be it advisable
to | be it a good idea to | be it wise to | advisable | had better | recommended; difference: difference between |
difference | differ | differ from | be different | distinguish | distinguish between | distinction between |
distinction | versus | vs | compare | comparison | comparison of | compared to | compare to | comparison between;
compute: calculate | compute | work out | figure out | calculation; inhabitant: inhabitant | resident; work: work |
operate; purpose: purpose | used for | use for; happen: happen | occur | take place; fast: fast | quick | quickly |
fastly | rapid | rapidly | speedy | speedily | swiftly; simple: simple | easy | in simple term | in plain english | in
layman term | simply put | easily | in plain language | in simple word; big: big | large | huge; biggest: biggest |
largest; bigger: bigger | larger; easiest: easiest | simplest; easier: easier | simpler; fastest: fastest | quickest;
faster: faster | quicker; daily: daily | every day | each day; weekly: weekly | every week | each week; monthly:
monthly | every month | each month; yearly: every year | each year | annually; small: small | little; bad: bad |
harmful; good: good | great; hard: hard | difficult | tough; smart: smart | clever | intelligent; ill: ill | sick |
unwell; near: near | close to | nearby | next to; child: child | kid | kids | children; mother: mother | mum | mom |
mommy | mummy; father: father | dad | daddy; grandmother: grandmother | grandma | granny; grandfather: grandfather |
grandpa; doctor: doctor | physician; lawyer: lawyer | attorney | solicitor; job: job | occupation; colleague: colleague
| coworker | co worker; film: film | movie; picture: picture | photo | image | photograph | pic | pics; video: video |
vid | clip; phone: phone | cellphone | cell phone | mobile phone | smartphone | telephone | cell; laptop: laptop |
notebook computer | notebook; computer: computer | pc | machine; tv: tv | television | telly; car: car | automobile;
bike: bike | bicycle; motorbike: motorbike | motorcycle; plane: plane | airplane | aeroplane | aircraft; subway: subway
| underground train | metro; taxi: taxi | cab; flat: flat | apartment; lift: elevator | lift; fridge: fridge |
refrigerator; freeze: freeze | deep freeze | be frozen; tap: tap | faucet; tire: tire | tyre; trash: trash | garbage |
rubbish; couch: couch | sofa; lawn: lawn | grass; leak: leak | leaky | drip; clogged: clogged | blocked | clog; unclog:
unclog | unblock; sink: sink | basin; toilet: toilet | loo; holiday: holiday | vacation; shop: shop | the store | a
store | your store | online store; ship: ship | deliver | shipping | shipment | delivery; bill: bill | invoice; money:
money | cash; tax: tax | taxation; deposit: deposit | security deposit; rent: rent | rental; sign in: sign in | log in
| login | log on | logon | sign into | log into | sign on; sign out: sign out | log out | logout | log off | logoff;
sign up: sign up | register | create an account | make an account | open an account with you; password: password |
passcode | passwd | pw; email: email | e mail; wifi: wifi | wi fi | wireless network; website: website | web site | web
page | webpage | site; app: app | application; repo: repo | repository; database: database | db; folder: folder |
directory | dir; docs: docs | documentation; environment: environment | env; variable: variable | var; function: func;
argument: argument | parameter | arg | param; dict: dict | dictionary; int: int | integer; js: js | javascript | java
script; ts: ts | typescript | type script; k8s: kubernetes | k8s | kube; postgres: postgres | postgresql | psql | pg;
mongo: mongo | mongodb; mac: mac | macos | mac os | osx | os x; node: node | nodejs | node js; react: react | reactjs |
react js; python: python | py; aws: amazon web service | aws; gcp: google cloud | gcp | google cloud platform; vscode:
vscode | vs code | visual studio code; ai: ai | artificial intelligence; ml: machine learning; regex: regex | regexp |
regular expression; os: operating system; ip: ip | ip address; usa: usa | the us | the usa | united states | united
states of america | the state; uk: uk | united kingdom | great britain; eu: eu | european union; nyc: nyc | new york
city; convert: convert | turn into | transform | change into | make into | turn | cast; join: join | concatenate |
concat; split: split | split up | divide up | divide | break up | break into; undo: undo | revert | roll back |
rollback; restart: restart | reboot | bounce; run: run | execute; copy: copy | make a copy of | clone a file;
loop-over: loop over | iterate over | loop through | iterate through | iterate; error: error | error message; connect:
connect | connection | link | pair; slow: slow | sluggish | slowly; listen: listen on | listen; write: write | draft |
author | be the author of | be the writer of | writer; invent: invent | inventor; paint: paint | painter; discoverer:
discover | discoverer; found: found | founder | establish; compose: compose | composer; direct: direct | director;
build: built | construct; die: die | pass away | death; born: born | birth; live: live | reside; win: win | victory;
kill: murder; marry: marry | be married to | wed; mean: mean | stand for | signify; say: say | translate | translation
of | translation | be the word for | word for | pronounce as; pronounce: pronounce | pronunciation; spell: spell |
spelling; cook: cook | cooking; boil: boil | boiled; mix: mix | blend; soda: soda | soft drink; eggplant: eggplant |
aubergine; zucchini: zucchini | courgette; cilantro: cilantro | coriander leaf; shrimp: shrimp | prawn; fries: fries |
french fry; symptom: symptom | sign and symptom; treat: treat | treatment | cure; medicine: medicine | medication |
drug; flu: flu | influenza; cold: cold | common cold; headache: headache | head ache; stomach: stomach | tummy | belly;
baby: baby | infant; pregnant: pregnant | during pregnancy | pregnancy | while pregnant; drink: drink | beverage;
exercise: exercise | workout; sleep: sleep | sleeping; visit: visit | travel to | go to | trip to; city-centre: city
centre | city center | downtown | town centre | town center; centre: centre | center; colour: colour | color;
favourite: favourite | favorite; grey: grey | gray; metre: metre | meter | m; kilometre: kilometre | kilometer | km |
kms; centimetre: centimetre | centimeter | cm; millimetre: millimetre | millimeter | mm; litre: litre | liter;
millilitre: millilitre | milliliter | ml; gram: gram | gramme | g; kilogram: kilogram | kilo | kg | kgs; pound: pound |
lb | lbs; ounce: ounce | oz; foot: foot | feet | ft; mile: mile | mi; celsius: celsius | centigrade | degree celsius |
c degree; fahrenheit: fahrenheit | degree fahrenheit; hour: hour | hr | hrs; minute: minute | min | mins; seconds: sec
| secs; gigabyte: gigabyte | gb; megabyte: megabyte | mb; kilobyte: kilobyte | kb; terabyte: terabyte | tb; percent:
percent | percentage | per cent; dollar: dollar | usd | bucks; euro: euro | eur; yen: yen | jpy; organize: organize |
organise; summarize: summarize | summarise | sum up | summary of | give a summary of | give me a summary of | make a
summary of; analyze: analyze | analyse; optimize: optimize | optimise; customize: customize | customise; recognize:
recognize | recognise; license: license | licence; program: program | programme; practice: practice | practise;
shorten: shorten | make short; improve: improve | enhance | increase | raise | boost; decrease: decrease | reduce |
lower | lessen | cut down | minimize | minimise; merge: merge | combine; cancel: cancel | terminate my; subscription:
subscription | plan subscription; refund: refund | money back | get my money back; complain: complain | make a
complaint | file a complaint | complaint; contact: contact | get in touch with | reach out to | get hold of; call: call
| phone call; help-desk: help desk | helpdesk | customer support | customer service | support team | support | customer
care; notification: notification | notify | alert | push notification; attachment: attachment | attached file;
screenshot: take a screenshot | take screenshot | make a screenshot | capture the screen | screenshot | screen shot |
screen capture; backup: backup | back up; hide: hide | conceal; all: all | every | each; everyone: everybody; only:
only | solely | merely; first: first | 1st; second: second | 2nd; third: third | 3rd; same: same | identical; enough:
enough | sufficient | sufficiently; almost: almost | nearly; often: often | frequently; rarely: rarely | seldom;
roughly: approximately | roughly; if: if | in case | provided that; because: because | since | due to | because of;
but: but | however | although | though; before: before | prior to; inside: inside | within | indoors; under: under |
beneath | underneath | below | less than | fewer than; over: above | more than | greater than; automatic: automatic |
automatically; manual: manual | manually; permanent: permanent | permanently; remote: remote | remotely; temporary:
temporary | temporarily; efficient: efficient | efficiently; secure: secure | securely; safe: safely | safe; legal:
legally | legal | lawful; thank-you-note: thank you note | note of thank | thank you card | thank you letter;
out-of-office: out of office | ooo | automatic reply | auto reply | vacation responder; two-factor: two factor
authentication | 2fa | two factor | two step verification | mfa; dark-mode: dark mode | dark theme; complexity:
complexity | big o | runtime complexity | time complexity; capital: capital | capital city; recommend: recommendation |
recommend; tip: tip | advice | suggestion; example: example | instance; benefit: benefit | advantage; drawback:
drawback | disadvantage | downside; pros-and-cons: pro and con | advantage and disadvantage | benefit and drawback |
upside and downside; important: important | essential | crucial; rule: rule | regulation; law: law | legislation;
illegal: illegal | against the law | unlawful; sue: sue | take to court | take legal action against; fire: fire |
dismiss | sack; resign: resign | quit my job | quit a job | quit job | hand in my notice; hire: hire | recruit |
employ; interview: interview | job interview; resume: resume | cv | curriculum vitae; university: university | uni |
college; student: student | pupil; exam: exam | examination; maths: math | maths | mathematics; sum: sum | total;
average: average | mean value; remember: remember | memorize | memorise; understand: understand | comprehend | grasp;
speak: speak | talk | chat; plant: plant | sow; prune: prune | trim | cut back; bug: bug | insect; stain: stain | spot;
wash: launder; clean: clean | clean up | tidy | tidy up | wash; hang: hang | hang up; dog: dog | doggo; cat: cat |
kitty; dangerous: dangerous | unsafe | hazardous; poisonous: poisonous | toxic; expensive: expensive | costly | pricey;
cheap: cheap | inexpensive; free: free | free of charge | for free | at no cost; beautiful: beautiful | pretty; famous:
famous | well known; separate: separate | seperate; definitely: definitely | definately; address: address | adress;
occurred: occured; earn: earn | make money; lend: lend | loan; mortgage: mortgage | home loan; credit-card: credit card
| creditcard; debit-card: debit card; interest-rate: interest rate | rate of interest; exchange-rate: exchange rate |
conversion rate; luggage: luggage | baggage | suitcase; train-station: train station | railway station; several:
several | multiple; immediately: immediately | right away | straight away | instantly; finish: finish | complete | be
done; refuse: decline | refuse | reject; terminate: kill | terminate | end; move: move | put | transfer | migrate;
calm: calm | soothe | calm down; item: item | product; another: another | different | other; custom: custom | own;
single: single | one | only one | just one | individual; human: human | person | real person | human be; expire: expire
| expiry | expiration | expiry date | expiration date; autumn: autumn | in the fall; duplicate: duplicate | duplicated
| repeated; keep: keep | retain | preserve; speed-up: speed up | make faster | run fast | accelerate; test: unit test;
unsubscribe: unsubscribe from | unsubscribe | stop receive | opt out of; method: payment method; virtualenv: virtualenv
| virtual environment | venv; limit: limit | cap; arrive: arrive | be deliver | be receive | show up; sell: sell | be
on sale; discount: discount | rebate; usual: usual | normal | typical | common; reply: reply | answer | respond;
return: return | send back | give back | bring back; file: file | document | papers | paperwork; check: check | verify
| test whether | test if | check if | check whether | determine if | determine whether | find out if | find out whether
| tell if | tell whether | know if | know whether | see if | see whether | confirm | make sure; exit: exit | quit;
package: package | parcel | pkg; close: close | shut; pharmacy: pharmacy | drugstore; gasoline: gasoline | petrol;
car-park: parking lot | car park; sweater: sweater | jumper | pullover; cookie: cookie | biscuit; pan: pan | skillet |
frying pan; garden: garden | yard; postcode: zip code | postcode | postal code; authentication: authentication | auth;
async: asynchronous | async; admin: admin | administrator; production: production | prod; initialize: initialize |
initialise | init; performance: performance | perf; library: library | lib; command-line: command line | cli;
interface: user interface | ui; pull-request: pull request | pr | merge request; ci: ci | continuous integration;
stacktrace: stack trace | stacktrace | traceback; newline: newline | new line | line break; filename: filename | file
name; timezone: timezone | time zone; username: username | user name; backend: backend | back end; frontend: frontend |
front end; unique: unique | distinct; empty: empty | blank; salary: salary | wage; teenager: teenager | teen |
adolescent; pain: pain | ache; vomit: vomit | throw up; correct: correct | proper | properly | correctly; entire:
entire | whole; maximum: maximum | max; specific: specific | certain | particular; additional: additional | extra |
further; wrong: wrong | incorrect; weird: weird | strange | odd; loud: loud | noisy; smell: smell | odor | odour; try:
try | attempt; contain: contain | include; postpone: postpone | delay | put off; save: save | store; vacuum: vacuum |
hoover; stove: stove | cooker; house: house | home; trip: trip | journey; beginner: beginner | newbie; gift: gift |
present; happy: happy | glad; afraid: afraid | scare; rich: rich | wealthy; last: last | latest | most recent; tallest:
tallest | highest; without: with no; restore: restore | recover; handle: handle | deal with; monitor: monitor | track |
keep track of; forget: forget | can not remember | do not remember | can not recall; heat: heat | heat up | warm up;
cool: cool | cool down; city: city | town; illness: disease | illness | sickness; symlink: symlink | symbolic link |
soft link; boolean: boolean | bool; hashmap: hashmap | hash map | hash table | hashtable; submit: submit | hand in |
send in; rename: rename | change the name of; rewrite: rewrite | rephrase | reword | paraphrase; until: until | till;
regarding: regarding | concerning; book: book | reserve | make a reservation for; booking: booking | reservation; cost:
cost | price; company: company | firm; contract: contract | agreement; tenant: tenant | renter; parse: parse |
deserialize; enroll: enroll | enrol; care-for: look after | take care of | care for; segfault: segfault | segmentation
fault; newsletter: newsletter | mailing list; mute: mute | silence; quit-job: leave my job; close-down: close down;
abroad: abroad | in another country | in other country | overseas; vegetarian: vegetarian | veggie; chance: chance |
odds | likelihood; disappear: disappear | vanish; goal: goal | aim | objective; guide: tutorial; trousers: trousers |
pants; diaper: diaper | nappy; candy: candy | sweets; chips: chips | crisps; sidewalk: sidewalk | pavement; freeway:
freeway | motorway | highway; mailbox: mailbox | letterbox; movie-theater: movie theater | cinema; closet: closet |
wardrobe; flashlight: flashlight | torch; truck: truck | lorry; engine: engine | motor; wallet: wallet | purse; tasty:
tasty | delicious; woods: woods | forest; annual: annual | yearly; fall-asleep: fall asleep | get to sleep; wake-up:
wake up | get up; lose-weight: lose weight | slim down; pay-off: pay off | pay back | repay; set-aside: set aside;
pick-up: pick up | collect; drop-off: drop off; fill-in: fill in | fill out | complete the form; deploy: deploy | roll
out
"""
"""Synonyms. A word in no row only equals itself."""

KNOWN: Final = words(
    """account after against airport always api bake between borrow boss crash css determine download drill during
    equation essay exist exit explain flight golang grow hint homework hotel idea inch insert install internet learn
    lose map most new nice old outside passport permission president puppy quit reach request salary schedule screw
    sentence shape stale str sugar tall teacher ticket travel triangle url visa water weight word"""
)
"""Further base forms that are in no row: so that the words count as known when capitalised, and for stems of other
forms."""

OPTIONAL: Final = words(
    """available but code consider considered contain create do exist find get have help keyword look machine make need
    one see somebody someone something thing times use want way work write"""
)
"""Words of little weight, which may be missing in one of two questions."""

VERBS: Final = words("create do find get have help look make need see use want work write")
"""Words of ``OPTIONAL`` that may not be missing if they are the first term of a question, because there they are its
verb."""
