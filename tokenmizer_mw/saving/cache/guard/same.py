"""Synonyms: words and phrases with the same meaning in a question, one meaning per row, its name first.

A row must hold without exceptions, because a question with one of its words gets the response to a question with
another. Phrases are written in base forms ("be", not "is"), as they are looked up.
"""

from __future__ import annotations

from typing import Final

from .listing import words

QUESTIONS: Final = """
@how: how | how to | way to | way of | best way to | good way to | easy way to | easiest way to | right way to
@how: how can you
@how: proper way to | correct way to | best way of | good way of | step to | step for | procedure for | procedure to
@how: how do you
@how: process for | process of | method for | method of | method to | instruction for | instruction to | guide to
@how: how do i
@how: how do one | how can one | how do you go about | how to go about | how do i go about | be there a way to
@how: how do people
@how: be there any way to | be there a way of | be there an easy way to | be there a good way to | any way to
@how: how would one
@how: show me how to | teach me how to | teach me to | tell me how to | explain how to | learn how to
@how: i can not figure out how to
@how: i want to know how to | i need to know how to | help me understand how to | i do not know how to
@how: what be the way to
@how: i forget how to | i be not sure how to | what be a way to | any idea how to | i be try to figure out how to
@how: what be the best way to | what be a good way to | what be the easiest way to | what be the right way to
@how: what be the correct way to | what be the proper way to | what be the step to | what be the step for
@how: what be the best way of
@how: what be the procedure for | what be the procedure to | what be the process for | what be the process to
@how: walk me through how to
@how: what be the process of | what must i do to | what do i need to do to | what do i have to do to
@how: what should i do to
@how: what can i do to | what would i do to | i be look for a way to | i would like to know how to
@how: i be wonder how to
@how: what be an easy way to | advice on how to | tip on how to | what be the simplest way to
@how: what be the recommended way to | what be the preferred way to | what be the usual way to | what be the way of
@how fastest: what be the fastest way to | what be the quickest way to | fastest way to | quickest way to
@how fast: quick way to | fast way to | what be a quick way to
@how create: recipe for | what be a good recipe for | what be the recipe for | a good recipe for
@how create: what be a recipe for
@how pronounce: what be the pronunciation of | pronunciation of | what be the correct pronunciation of
@how spell: what be the spelling of | what be the correct spelling of
@how compute: what be the formula for | formula for | what be the formula of
@why: why | how come | what be the reason for | what be the reason that | what be the reason why | reason why
@why: reason for | what make
@why: what be the reason | for what reason | explain why | tell me why | what be the cause of | cause of | what cause
@why: what be cause
@when: when | what time | at what time | what date | on what date | what day | what year | in what year
@when: in which year | whenever
@when: which year | at what point | what be the date of | date of | right time to | best time to | good time to
@when: every time | each time
@when: what be the right time to | what be the best time to | what be a good time to | what time of year
@when: in what month
@when: what month | what time of the year | what be the best time of year to
@when: tell me when | do you know when | let me know when | i want to know when
@where: where | in what place | in which place | where about | what be the location of | location of | at what place
@where: in what city
@where: what place | whereabout | where be the location of | in what location | in which location
@who: who | which person | what person | whom | who be the person who | who be the person that
@who: what be the name of the person
@whose: whose
@who write: author of | who be the author of | the author of | writer of
@who invent: inventor of | who be the inventor of
@who paint: painter of | who be the painter of
@how: the way
@many: how many | what number of | what be the number of | number of | what be the total number of
@many: the total number of
@much: how much | what amount of | what be the amount of | what quantity of | amount of
@much cost: price of | cost of | what be the price of | what be the cost of | how expensive be | how costly be
@much cost: what price be | what do it cost to | how much do it cost to | how much be it to
@long: how long | for how long | how much time | what be the duration of | duration of | what length of time
@long: for what length of time
@long: how long do it take to | how much time do it take to | how long do it take for | how many minute do it take to
@long: how long will it take to | how long would it take to | how much time do i need to
@often: how often | how frequently | at what interval | what be the frequency of | frequency of
@what distance: how far | what distance | what be the distance | distance | how far be it
@what age: how old | what be the age of | at what age | what age | age of
@what height: how tall | how high | what be the height of | height of | what height | elevation of
@what height: what be the elevation of
@what size: how big | how large | what be the size of | size of | what size
@what depth: how deep | what be the depth of | depth of
@what width: how wide | what be the width of | width of
@what weight: how heavy | what be the weight of | weight of
@what speed: how fast | how quick | what be the speed of | speed of
@what temperature: how hot | what be the temperature of | temperature of | what temperature | at what temperature
@what population: how many people live in | how many people be there in | what be the population of | population of
@what population: how many inhabitant do | how many resident do
@what difference: how do they differ | how be they different | how do they compare
@what instead: what can i use instead of | be there a substitute for | what be a substitute for
@what instead: what be a good substitute for
@what instead: be there an alternative to | what be an alternative to | what can i substitute for
@what instead: what be a good alternative to
say: how do you say | how do i say | how do one say | how would you say | what be the word for | how to say
say: how can i say
@what: what should i do | what can i do | what do i do | what should i do if | what can i do if | what do i do if
@what: what should i do when | what can i do when | what do i do when | what must i do if | what be i to do if
@what: what | which | what be all | what kind of | what type of | what sort of | which kind of | which type of
"""
"""What is asked for, wherever it stands in a sentence. Kinds of questions begin with "@"."""

STARTS: Final = """
@what: tell me | tell me about | tell me what | give me | give | show me | what be | show | provide | provide me with
@what: tell us
@what: i want to know | i would like to know | let me know | i need to know | do you know | do you happen to know
@what: tell us about | i would like to know about | what be the name of | name of | i be curious about
@what: i be curious what
@what: remind me | remind me what | i wonder | i be wonder | any idea | any idea what | information about | info on
@what: information on
@explain: explain | explain what | explain to me | define | describe | explain the concept of | what be mean by
@explain: definition for
@explain: what be the definition of | definition of | what be the meaning of | meaning of | meaning
@explain: what do you mean by
@explain: give an explanation of | give me an explanation of | what exactly be | give me an overview of
@explain: an overview of
@explain: overview of | explanation of | give a definition of | help me understand | help me understand what
@explain: concept of
@explain: what be the concept of | what do it mean when
@list: list | name | give me a list of | list of | make a list of | enumerate | suggest | recommend | what be some
"""
"""Ways to ask with which a request begins; amid a sentence they are words like others."""

LOOSE: Final = frozenset({"@what", "@explain", "@list"})
"""Kinds of questions that say little beside others."""

MANNERS: Final = """
=: please | kindly | hi | hello | hey | hey there | hi there | hello there | thank | thanks | thank you
=: thank in advance
=: thanks in advance | thanks a lot | thank a lot | many thanks | cheers | quick question | question | a question
=: i have a question | one question | i have a quick question | could somebody | would you mind | do you mind
=: can somebody
=: can someone | could someone | can anybody | can anyone | does anyone know | do anyone know | do anybody know
=: please help | please help me | i wonder if you could | i be wonder if you could | i would be grateful if you could
=: i would appreciate it if you could | excuse me | sorry | sorry to bother you | good morning | good evening
=: good afternoon
=: well | so | ok | okay | um | uh | oh | yo | dude | man | bro | by the way | for me | to me | in general | guys
=: mate
=: all right | alright | also | if you do not mind | if possible | if you can | let me ask | can i ask | may i ask
=: could i ask
=: i want to ask | i would like to ask | need help | i need help | i need help with | i need some help with
=: need help with
=: any help appreciate | any help would be appreciate | stupid question | dumb question | silly question
=: noob question
=: simple question | newbie here | eh | hmm | right | you know | sir | madam | folk | friend
=: can you help | can you help me | can you help me with | could you help me | could you help me with | could you help
=: quick one
=: you guy | in short | briefly | real quick | asap | any idea | help | exactly
"""
"""What is said out of manners at either end of a request: it asks for nothing."""

FILLERS: Final = words(
    """just really actually basically simply literally ever honestly maybe perhaps usually normally typically generally
    very somehow somewhat guys please also"""
)
"""What says nothing anywhere."""

ORDERS: Final = words(
    """explain tell show describe help please define recommend remind walk teach list name provide convert sort delete
    fix check find give write draft compose translate summarize rewrite rephrase paraphrase proofread correct
    suggest shorten brainstorm outline reword generate create make compare calculate clarify quickly briefly"""
)
"""Verbs before which "can you" is only polite."""

WANTS: Final = """
@how: i want to | i need to | i would like to | i wish to | i be try to | i be attempt to | i have to | help me
@how: help me to
@how: i be look to | i be go to | i be plan to | i would love to | want to | would like to | i have be try to
@how: need to
"""
"""Wishes to do something with which a request begins: they ask how, unless something is to be written."""

WRITTEN: Final = words(
    """write draft compose translate summarize rewrite rephrase paraphrase proofread correct suggest shorten brainstorm
    outline reword generate"""
)
"""What a model does by itself: "help me write" is an order, and does not ask how."""

MEANINGS: Final = """
delete: delete | remove | get rid of | erase | rid | wipe out | take off | take out | clear off | get off
quit: quit
exit: exit
stop: stop | prevent | keep from
fix: fix | repair | mend | solve | resolve | troubleshoot | sort out | remedy
problem: problem | issue | trouble | difficulty
broken: not work | broken | stop work | do not work | be not work | will not work | no long work | not function
broken: out of order
start: start | begin | commence
enable: enable | activate | turn on | switch on
disable: disable | deactivate | turn off | switch off
start-up: power on | power up | boot | boot up | start up
shut-down: power off | shut off | shut down | power down | shutdown
create: create | make | build | produce | generate
declare: declare | define
install: install
configure: configure | config | set up | setup
modify: change | modify | alter | edit | amend | update my | update your
replace: replace | swap out | substitute
instead: instead of | in place of | substitute for | alternative to | replacement for | in lieu of
check: check | verify | test whether | test if | check if | check whether | determine if | determine whether
check: find out if
check: find out whether | tell if | tell whether | know if | know whether | see if | see whether | confirm | make sure
see: see | view | look at | display | show | check what | check which | see what | see which | find out what
see: find out which
find: find | locate | look up | search for | look for | discover
use: use | utilize | utilise | make use of
using: with the help of | by mean of | by means of | via | using
get: get | obtain | acquire | fetch | retrieve
receive: receive
buy: buy | purchase
choose: choose | pick | select | pick out
need: need | require | necessary | be need | needed | required | be require | have to | need to | be require to
need: necessity | mandatory
~can: can | could | may | might | be able to | able to | able | be it possible to | possible to | possible
~can: be it possible for | can be
~allowed: allowed | allow to | be allow to | allow | permit | be permit to | permitted | be it ok to | be it okay to
~allowed: ok to | okay to | be it ok for | be it okay for
~allowed: ok for | okay for | allow for | be it fine to | be it alright to | be it all right to | permissible
~should: should | ought to | be it advisable to | be it a good idea to | be it wise to | advisable | had better
~should: recommended
difference: difference between | difference | differ | differ from | be different | different | distinguish
difference: distinguish between
difference: distinction between | distinction | versus | vs | compare | comparison | comparison of | compared to
difference: compare to | comparison between
compute: calculate | compute | work out | figure out | calculation
inhabitant: inhabitant | resident
work: work | operate
purpose: purpose | used for | use for
happen: happen | occur | take place
fast: fast | quick | quickly | fastly | rapid | rapidly | speedy | speedily | swiftly
simple: simple | easy | in simple term | in plain english | in layman term | simply put | easily
big: big | large
biggest: biggest | largest
bigger: bigger | larger
easiest: easiest | simplest
easier: easier | simpler
fastest: fastest | quickest
faster: faster | quicker
must: must
daily: daily | every day | each day
weekly: weekly | every week | each week
monthly: monthly | every month | each month
yearly: yearly | every year | each year | annually
small: small | little
bad: bad | harmful
good: good | great
hard: hard | difficult | tough
smart: smart | clever | intelligent
ill: ill | sick | unwell
near: near | close to | nearby | next to
child: child | kid | kids | children
mother: mother | mum | mom | mommy | mummy
father: father | dad | daddy
grandmother: grandmother | grandma | granny
grandfather: grandfather | grandpa
doctor: doctor | physician
lawyer: lawyer | attorney | solicitor
job: job | occupation
colleague: colleague | coworker | co worker
boss: boss
film: film | movie
picture: picture | photo | image | photograph | pic | pics
video: video | vid | clip
phone: phone | cellphone | cell phone | mobile phone | smartphone | telephone | cell
laptop: laptop | notebook computer
computer: computer | pc
tv: tv | television | telly
car: car | automobile
bike: bike | bicycle
motorbike: motorbike | motorcycle
plane: plane | airplane | aeroplane | aircraft
subway: subway | underground train | metro
taxi: taxi | cab
flat: flat | apartment
lift: elevator | lift
fridge: fridge | refrigerator
freeze: freeze | deep freeze | be frozen
tap: tap | faucet
tire: tire | tyre
trash: trash | garbage | rubbish
couch: couch | sofa
lawn: lawn | grass
leak: leak | leaky | drip
clogged: clogged | blocked | clog
unclog: unclog | unblock
sink: sink | basin
toilet: toilet | loo
holiday: holiday | vacation
shop: shop | store
ship: ship | deliver
bill: bill | invoice
money: money | cash
salary: salary
tax: tax | taxation
deposit: deposit | security deposit
rent: rent | rental
sign in: sign in | log in | login | log on | logon | sign into | log into | sign on
sign out: sign out | log out | logout | log off | logoff
sign up: sign up | register | create an account | make an account | open an account with you
account: account
password: password | passcode | passwd | pw
email: email | e mail
wifi: wifi | wi fi | wireless network
internet: internet
website: website | web site | web page | webpage | site
app: app | application
repo: repo | repository
database: database | db
folder: folder | directory | dir
docs: docs | documentation
environment: environment | env
variable: variable | var
function: func
argument: argument | parameter | arg | param
dict: dict | dictionary
int: int | integer
str: str
js: js | javascript | java script
ts: ts | typescript | type script
k8s: kubernetes | k8s | kube
postgres: postgres | postgresql | psql | pg
mongo: mongo | mongodb
mac: mac | macos | mac os | osx | os x
node: node | nodejs | node js
react: react | reactjs | react js
golang: golang
python: python | py
aws: amazon web service | aws
gcp: google cloud | gcp | google cloud platform
vscode: vscode | vs code | visual studio code
ai: ai | artificial intelligence
ml: machine learning
css: css
regex: regex | regexp | regular expression
os: operating system
url: url
api: api
ip: ip | ip address
usa: usa | the us | the usa | united states | united states of america | the state
uk: uk | united kingdom | great britain
eu: eu | european union
nyc: nyc | new york city
convert: convert | turn into | transform | change into | make into
add: add | append
insert: insert
join: join | concatenate | concat
split: split | split up | divide up
undo: undo | revert | roll back | rollback
restart: restart | reboot | bounce
run: run | execute
copy: copy | make a copy of | duplicate | clone a file
loop-over: loop over | iterate over | loop through | iterate through | iterate
exist: exist
crash: crash
error: error | error message
connect: connect | connection
slow: slow | sluggish | slowly
listen: listen on | listen
write: write | draft | author | be the author of | be the writer of | writer
invent: invent | inventor
paint: paint | painter
discoverer: discover | discoverer
found: found | founder | establish
compose: compose | composer
direct: direct | director
build: built | construct
die: die | pass away | death
born: born | birth
live: live | reside
win: win | victory
kill: kill | murder
marry: marry | be married to | wed
mean: mean | stand for | signify
say: say | translate | translation of | translation | be the word for | word for | pronounce as
pronounce: pronounce | pronunciation
spell: spell | spelling
cook: cook | cooking
boil: boil | boiled
bake: bake
mix: mix | blend
sugar: sugar
soda: soda | soft drink
eggplant: eggplant | aubergine
zucchini: zucchini | courgette
cilantro: cilantro | coriander leaf
shrimp: shrimp | prawn
fries: fries | french fry
symptom: symptom | sign and symptom
treat: treat | treatment | cure
medicine: medicine | medication | drug
flu: flu | influenza
cold: cold | common cold
headache: headache | head ache
stomach: stomach | tummy | belly
baby: baby | infant
pregnant: pregnant | during pregnancy | pregnancy | while pregnant
drink: drink | beverage
lose: lose
weight: weight
exercise: exercise | workout
sleep: sleep | sleeping
visit: visit | travel to | go to | trip to
travel: travel
city-centre: city centre | city center | downtown | town centre | town center
centre: centre | center
colour: colour | color
favourite: favourite | favorite
grey: grey | gray
metre: metre | meter | m
kilometre: kilometre | kilometer | km | kms
centimetre: centimetre | centimeter | cm
millimetre: millimetre | millimeter | mm
litre: litre | liter
millilitre: millilitre | milliliter | ml
gram: gram | gramme | g
kilogram: kilogram | kilo | kg | kgs
pound: pound | lb | lbs
ounce: ounce | oz
inch: inch
foot: foot | feet | ft
mile: mile | mi
celsius: celsius | centigrade | degree celsius | c degree
fahrenheit: fahrenheit | degree fahrenheit
hour: hour | hr | hrs
minute: minute | min | mins
seconds: sec | secs
gigabyte: gigabyte | gb
megabyte: megabyte | mb
kilobyte: kilobyte | kb
terabyte: terabyte | tb
percent: percent | percentage | per cent
dollar: dollar | usd | bucks
euro: euro | eur
yen: yen | jpy
organize: organize | organise
summarize: summarize | summarise | sum up | summary of | give a summary of | give me a summary of | make a summary of
analyze: analyze | analyse
optimize: optimize | optimise
customize: customize | customise
recognize: recognize | recognise
license: license | licence
program: program | programme
practice: practice | practise
shorten: shorten | make short
improve: improve | enhance
increase: increase | raise | boost
decrease: decrease | reduce | lower | lessen
merge: merge | combine
schedule: schedule
cancel: cancel | terminate my
subscription: subscription | plan subscription
refund: refund | money back | get my money back
complain: complain | make a complaint | file a complaint | complaint
contact: contact | get in touch with | reach out to | get hold of
call: call | phone call
help-desk: help desk | helpdesk | customer support | customer service | support team
notification: notification | notify
attachment: attachment | attached file
screenshot: take a screenshot | take screenshot | make a screenshot | capture the screen
screenshot: screenshot | screen shot | screen capture
download: download
backup: backup | back up
hide: hide | conceal
all: all | every
everyone: everybody
only: only | solely | merely
first: first | 1st
second: second | 2nd
third: third | 3rd
last: last
most: most
same: same | identical
enough: enough | sufficient | sufficiently
almost: almost | nearly
often: often | frequently
rarely: rarely | seldom
always: always
roughly: approximately | roughly
if: if | in case | provided that
because: because | since | due to | because of
but: but | however | although | though
before: before | prior to
after: after
inside: inside | within
outside: outside
during: during
against: against
under: under | beneath | underneath | below
over: above
between: between
automatic: automatic | automatically
manual: manual | manually
permanent: permanent | permanently
remote: remote | remotely
temporary: temporary | temporarily
efficient: efficient | efficiently
secure: secure | securely
safe: safely
legal: legally
thank-you-note: thank you note | note of thank | thank you card | thank you letter
out-of-office: out of office | ooo | automatic reply | auto reply | vacation responder
two-factor: two factor authentication | 2fa | two factor | two step verification | mfa
dark-mode: dark mode | dark theme
complexity: complexity | big o | runtime complexity | time complexity
capital: capital | capital city
president: president
recommend: recommendation
tip: tip | advice | suggestion
example: example | instance
idea: idea
benefit: benefit | advantage
drawback: drawback | disadvantage | downside
pros-and-cons: pro and con | advantage and disadvantage | benefit and drawback | upside and downside
important: important | essential | crucial
rule: rule | regulation
law: law | legislation
illegal: illegal | against the law | unlawful
legal: legal | lawful
sue: sue | take to court | take legal action against
fire: fire | dismiss | sack
resign: resign | quit my job | quit a job | quit job | hand in my notice
hire: hire | recruit
interview: interview | job interview
resume: resume | cv | curriculum vitae
essay: essay
homework: homework
university: university | uni | college
teacher: teacher
student: student | pupil
exam: exam | examination
maths: math | maths | mathematics
sum: sum | total
average: average | mean value
equation: equation
triangle: triangle
learn: learn
remember: remember | memorize | memorise
understand: understand | comprehend | grasp
word: word
sentence: sentence
speak: speak | talk
grow: grow
water: water
plant: plant | sow
prune: prune | trim | cut back
bug: bug | insect
stain: stain | spot
wash: wash | launder
clean: clean
hang: hang | hang up
drill: drill
screw: screw
dog: dog | doggo
puppy: puppy
cat: cat | kitty
safe: safe
dangerous: dangerous | unsafe | hazardous
poisonous: poisonous | toxic
expensive: expensive | costly | pricey
cheap: cheap | inexpensive
free: free | free of charge | for free | at no cost
nice: nice
beautiful: beautiful | pretty
famous: famous | well known
old: old
new: new
receive: recieve
separate: separate | seperate
definitely: definitely | definately
address: address | adress
occurred: occured
earn: earn | make money
borrow: borrow
lend: lend | loan
mortgage: mortgage | home loan
credit-card: credit card | creditcard
debit-card: debit card
interest-rate: interest rate | rate of interest
exchange-rate: exchange rate | conversion rate
passport: passport
luggage: luggage | baggage | suitcase
ticket: ticket
flight: flight
airport: airport
train-station: train station | railway station
hotel: hotel
visa: visa
map: map
tall: tall
shape: shape
"""
"""The same by several words. What a row does not hold is only ever the same as itself."""
