"""Phrases of Hindi, from which the rules for Hindi sentences are made: one table for Devanagari, and one for the Latin
letters that people use in chats. The verb stands last."""

from __future__ import annotations

from typing import Final

from .tongue import make_tongue

HINDI: Final = make_tongue(
    "hi",
    spaced=False,
    words={
        "keep": r"रख(?:ते हैं|ेंगे| लो|ो|िए)|(?:ही )?लीजिए|ले(?:ते हैं|ंगे| लो)|इस्तेमाल कर(?:ो|ते हैं|ेंगे|ें|िए)"
        r"|चुन(?:ते हैं|ेंगे)|से करते हैं|(?:के साथ|पर) चलते हैं|लगा(?:ओ|एँगे| दो)|कर (?:दो|दीजिए|देते हैं)",
        "verb": r"कर|बना|जोड़|हटा|लिख|बदल|लगा|डाल|भेज|जाँच|चुन|खरीद|छाप|सुधार|देख|पूछ",
        "order": r"(?:ो|ओ|ें|िए|इए|िये|एँ|एं|ना|नी|ने| दो| दीजिए| दें| लो| लें| लीजिए|वाओ)",
        "will": r"(?:ूँगा|ूँगी|ूंगा|ूंगी|ेंगे|ेंगी|ेगा|ेगी|ऊँगा|ऊँगी|एँगे|एगा)",
        "when": r"कल|परसों|बाद में|अगले (?:हफ़्ते|हफ्ते|महीने)|सोमवार|मंगलवार|बुधवार|गुरुवार|शुक्रवार|शनिवार|रविवार"
        "|शाम को",
        "too": r"(?:बहुत |ज़्यादा )?\S+(?: पड़ता| है)? है",
    },
    rows={
        "goal": r"(?:हमारा |मेरा |आज का )?(?:लक्ष्य|उद्देश्य|मकसद)(?: है| यह है)?",
        "decided": r"फ़ैसला|फैसला|निर्णय|तय हुआ|तय",
        "pending": r"बाकी(?: काम)?|बाक़ी|अगला कदम|करना है|लंबित",
        "done_mark": r"हो गया|पूरा हुआ|पूरा|किया",
        "instead": (
            r"(?P<target>.{1,40}?) (?:की जगह|के बजाय|के बदले(?: में)?|छोड़कर|हटाकर) (?P<label>[^,।]{1,60}?)(?: "
            r"(?:ही |को )?(?:रख|लगा|इस्तेमाल|ले|चल|कर|बेहतर|ठीक).*|$)",
            r"(?P<target>.{1,40}?) नहीं, (?P<label>[^,।]{1,60}?) (?:ही |को )?(?:रख|लगा|इस्तेमाल|ले|चल|बेहतर|ठीक).*",
            r"(?P<target>[^,।?]{1,30}?) <too>, (?:तो )?(?P<label>[^,।?]{1,40}?) <keep>.*",
        ),
        "no_want": r"(?P<label>[^,।]{2,40}?) (?:छोड़(?:ो|िए|ें|ते हैं| दो| दीजिए)|नहीं चाहिए|नहीं (?:लेंगे|रखेंगे|चलेगा"
        r"|चलेगी|करेंगे|लगाएँगे|लगाएंगे)|मत (?:रखो|लगाओ|जोड़ो|डालो|लो)|रहने (?:दो|दीजिए))(?:$|[,।] ?(?P<reason>.*))",
        "bare": r"(?P<label>(?:(?:<verb>)(?:वा|ा)? (?:दिया|दी|दिए|लिया|ली|लिए)|हो गया|हो गई)(?: है| हैं)?[,।] ?.{3,})",
        "plan": r"(?:कर|देख|लिख|पूछ|भेज|बता|बना|ला|द)(?:<will>)(?:$|[ ।,].*)|(?:से|को) (?:बोलना|बताना|कहना|पूछना|देना"
        r"|भेजना|बात करनी) है|को (?:लगाता|लगाती) हूँ|निकालनी पड़ेगी",
        "turned": r"(?:नहीं,? |अब |अच्छा,? )*(?P<label>[^,।]{2,50}?) (?:ही ठीक रहेग[ािी]|ही बेहतर (?:है|रहेगा)|पर चलते "
        r"हैं|पर (?:जाते|आते) हैं|में बदल दो)(?:$|[,।] ?(?P<reason>.*))",
        "rule": r"(?P<label>(?:.{0,50}?)(?:हमेशा|कभी (?:भी )?|बिना पूछे|हर बार|अब से|आगे से|ज़रूर) ?.{3,}|.{2,60}? मत "
        r"(?:करना|कीजिए|बदलना|हटाना|छूना|छुओ|करो|छापना|रखना|भेजना|दीजिए|रखिए|रखो).*|(?:जवाब )?(?:हिंदी|हिन्दी) में .*)",
        "works": r"चल गया|ठीक हो ग(?:या|ए|ई|ईं)|चलने लगा|काम कर रहा है|सही हो गया|हल हो गया|अब ठीक है",
        "complaint": r"नहीं (?:चल|खुल|हो|आ|दिख|भेज|बन|छप) ?(?:रहा|रही|रहे|ता|ती|पा)|(?:खुल|चल|आ|हो|दिख)(?:ता|ती|ते)? "
        r"(?:ही )?नहीं|काम नहीं कर|(?:एरर|त्रुटि) (?:आ|दे)|अटक|बंद हो (?:जा|गया)|गड़बड़|टूट (?:गया|रही|रहा|जा)|फेल हो"
        r"|क्रैश|हैंग|दो बार|गलत (?:आ|दिख|हो|है|निकल)|डिब्बे दिख|खाली (?:आ|दिख)|कट (?:जा|गया|रहा)|मेल नहीं|(?:समस्या"
        r"|दिक्कत)(?: है|:)|कम (?:मिला|मिल रहा)",
        "use": (
            r"(?:ठीक है,? |तो |अच्छा,? |हाँ,? |फिर |सिर्फ़ )*(?P<label>[^,।]{1,60}?) (?:<keep>)(?:$|[,।]"
            r" ?(?P<reason>.*))",
            r"(?:तो )?(?P<label>[^,।]{2,40}) ठीक(?: रहेगा| है)?$",
        ),
        "did": r"(?:(?:<verb>) (?:दिया|दी|दिए|ली|लिया|लिए)|तैयार है|हो (?:गया|गई|गए|चुका|चुकी)|बन (?:गया|गई|गए)|पूरा "
        r"हुआ)",
        "later": r"(?:बाकी|बाक़ी) (?:है|हैं)|अभी (?:तक )?(?:नहीं |बाकी|\S+ नहीं)|करना (?:बाकी )?है$|(?:लेने|लेना"
        r"|निकालनी|करनी) (?:हैं|है|पड़ेगी)|(?:<when>).{0,40}?(?:<will>|करना है|करते हैं)",
        "set": r"^(?:तो |हाँ,? )?(?:सीधा |सीधे )?\d+ (?:से \d+|दिन|रुपये|बजे|मिनट)(?: तक)?(?:।.*)?$|(?:जा सकते हैं"
        r"|यहीं पढ़ेंगे|बनवाते हैं|लिख लीजिए)|^पहले [^।]{3,60}? (?:में|से|पर|तक)$",
        "order": r"(?:कृपया |अब |फिर |और |पहले |साथ ही |ज़रा )*(?P<label>[^।]{3,100}? (?:(?:<verb>|दिखा|बता|रख)<order>"
        r"|मदद करो|मदद कीजिए))(?:$|[,।. ].*)",
        "need": r"(?:मुझे |हमें )?(?P<label>.{3,90}?(?:(?:बनानी|बनाना|करना|करनी|लिखना|लिखनी|जोड़ना) (?:है|चाहता|चाहती"
        r"|चाहते)|की (?:ज़रूरत|जरूरत) है|चाहिए).*)",
    },
    unless={
        "no_want": r"(?:यह|वह|ये|वो|इसे|उसे) ",
        "plan": r"(?:अगर|यदि|क्या|जब) |.*(?:सोचूँगी|सोचूँगा|सोचेंगे|नहीं (?:लेंगे|रखेंगे|करेंगे|लगाएँगे)|इस्तेमाल"
        " करेंगे"
        r"|रखेंगे|लेंगे)",
        "rule": r"(?:क्या|क्यों) |.*(?:था|थी|गया)$",
        "works": r".*(?:नहीं|लेकिन|पर )",
        "complaint": r"(?:अगर|यदि|जब) .*|.*(?:मत |ताकि|चाहिए|ठीक कर दि|ठीक हो ग)",
        "use": r"(?:यह|वह|ये|वो|वही|सब|अब|यही|बिल्कुल|बहुत|बात) ?|.*(?:क्या|नहीं|बाद में|मत) ",
        "did": r".*(?:नहीं|अगर|क्या ).*|.*(?:दीजिए|हो गईं|रहेगी)|.*(?:बंद|फेल|क्रैश|देर|कट) हो (?:गया|गई)|.*हो गए$",
        "order": r".*(?:बताइए|बताओ|मत |कहते हैं|नहीं )",
        "need": r".*(?:नहीं (?:चाहिए|आना)|क्या |कभी )",
        "later": r".*(?:क्या |मत )",
    },
    ahead={
        "hands": (r".{2,20} को (?:लगाती|लगाता|लगाते) (?:हूँ|हूं|हैं)",),
        "left": (r".*(?:का इंतज़ार|का इंतजार).*|.*(?:बाकी है|बाद में करेंगे).*",),
        "plans": (
            r".* तक,? .*(?:देखेंगी|देखेंगे|करेंगी|करेंगे|बनाएँगे|देंगे|दूँगा|दूँगी|करूँगा|करूँगी)$",
            r".{3,60} अभी (?:तक )?\S+ नहीं (?:है|हैं)?.*|.{2,20} (?:को|से) (?:बोलना|बताना|कहना|पूछना|लेना|मँगवाना) "
            r"(?:है|होगा|पड़ेगा).*",
        ),
        "past": r".*(?:हमेशा|रोज़)",
    },
    said={
        "lead": r"(?:(?:हाँ|हां|ठीक है|ठीक|अच्छा|नहीं|अरे(?: नहीं)?|नमस्ते|नमस्कार|धन्यवाद|शुक्रिया|तो|और|पर|लेकिन"
        "|बढ़िया|जी"
        r"|हाँ जी|सही|समझ गया|समझ गई|यानी)[,।.!:]+ ?|(?:और|पर|तो|लेकिन|फिर|अच्छा|यानी|अरे) )",
        "asks": r"(?:क्या|क्यों|कैसे|कब|कहाँ|कौन|कितन[ाेी]) |.*(?:क्या लगता है|कैसा रहेगा|क्या करें)$",
        "polite": r"(?:क्या आप |क्या तुम |आप |तुम )?(?P<rest>.{3,}?(?:<verb>|दिखा) (?:सकते|सकती|दोगे|देंगे))(?: हो| हैं"
        r"| है)?",
        "supposes": r"अगर|यदि|शायद|मान लो|मान लीजिए|हो सकता है|उदाहरण|सोच रह|पता नहीं|आम तौर|.*(?:सोचूँगी|सोचूँगा"
        r"|सोचेंगे)",
        "reports": r"(?:[^\s,।]+ ){1,3}(?:कहते|कहती|कहता|बोले|बोलते|चाहते|चाहता|मानते) (?:हैं|है|थे|था)?",
        "border": r"।\s*|[,;]\s+(?:और |पर |लेकिन |फिर |तो )?|\s+(?:लेकिन|और फिर|और साथ ही)\s+",
        "because": r",?\s+(?:क्योंकि|चूँकि|ताकि|वरना|इसलिए कि)\s+|^(?:क्योंकि|ताकि|वरना) |\s*\(",
        "trailer": r" (?:अभी|फ़िलहाल|फिलहाल|प्लीज़|कृपया|पहले|ही)",
        "offers": r"(?:क्या (?:मैं|हम) |चाहें तो |मैं )(?P<label>.{3,}?)(?: दूँ| दूं| सकता हूँ| सकती हूँ|\?|$)",
        "choosing": r"(?:विकल्प|तरीक|रास्त|संभावना|उपाय)",
        "yes": r"हाँ|हां|जी|जी हाँ|ठीक(?: है)?|सही(?: है)?|बिल्कुल|अच्छा|बढ़िया|मंज़ूर|कर दो|कर दीजिए|चलो|चलेगा|चलिए"
        "|हो "
        r"जाए|करो|कीजिए|वही|ओके",
        "no": r"नहीं|ना|मत|अभी नहीं|रहने दो|रहने दीजिए|ज़रूरत नहीं|बाद में",
        "soft": r"धन्यवाद|शुक्रिया|है|यह|यही|ऐसा|ही|तो|सब",
        "both": r"दोनों|दोनों ही",
        "every": r"सब|सभी",
        "pick": r"विकल्प|नंबर|तो|मैं|रखते हैं",
        "picked": r" (?:नंबर|वाला|वाली|वाले|विकल्प|ठीक|सही|रख|चुन)",
    },
    ordinals="पहला|पहली|पहले_वाला दूसरा|दूसरी|दूसरे_वाला तीसरा|तीसरी -1 आखिरी",
)
"""The phrases and rules of Hindi in Devanagari (see ``tongue.Tongue``)."""

HINGLISH: Final = make_tongue(
    "hinglish",
    words={
        "keep": r"rakh(?:te hain?|enge| lo|o)|(?:hi |le )lo|lete hain|use (?:karo|karte hain|karenge|karlo|kar lo"
        r"|karna)|se karte hain|(?:ke saath|pe) chalte hain|hi (?:rakho|theek hai|sahi hai)|theek rahega|final (?:hai"
        r"|karo)|laga(?: do|o)|kar do",
        "verb": r"kar|kr|bana|jod|hata|likh|badal|laga|da+l|bhej|push|fix|add|test kar|merge kar|deploy kar",
        "will": r"(?:unga|ungi|enge|dunga|dungi|lunga|lungi|denge|lenge|ega|egi)",
        "when": r"kal|parso|shaam|subah|monday|friday|weekend|agle hafte|baad me(?:in)?|next week",
        "no": r"nahi|nhi|nahin",
    },
    rows={
        "decided": r"final|faisla|decided|tay|pakka",
        "pending": r"(?:baaki|baki|pending)(?: hai| kaam)?",
        "instead": (
            r"(?P<target>.{1,40}?) (?:ki jagah|ke bajay|ke badle|chhod ke|hata ke|hatao,?|chh?odo,?) "
            r"(?P<label>[^,]{1,60}?)(?: (?:hi |ko |pe )?(?:rakh|laga|use|le|chal|kar|better|daal|switch|theek|try).*"
            r"|$)",
            r"(?P<target>.{1,40}?) nahi, (?P<label>[^,]{1,60}?) (?:hi |ko |pe )?(?:rakh|laga|use|le|chal|better|daal"
            r"|switch"
            r"|theek).*",
            r"(?P<target>[^,?]{1,30}?) (?:bahut |bohot |zyada |kaafi )?\S+(?: padta)? hai, (?:to |toh |so "
            r")?(?P<label>[^,?]{1,40}?) <keep>.*",
        ),
        "no_want": r"(?P<label>[^,]{2,40}?) (?:<no> chahiye|mat (?:use karo|da+lo|lagao|rakho)|rehne do|chh?o(?:d do"
        r"|do)|<no> (?:lenge|rakhenge|chalega|karenge))(?:$|[,. ] ?(?P<reason>.*))",
        "bare": r"(?P<label>(?:wapas |sab |haan )?<verb> (?:diya|di|diye|liya|li)(?: hai| hain)?, ?.{4,})",
        "plan": r"\S*<will>|(?:ko|se) (?:bolna|batana|puchna|poochna|kehna|dena|bhejna) hai|<when>(?: \S+){0,3} "
        r"(?:karna|daalna|bhejna|likhna|dena|release|deploy)(?: hai)?|(?:release|deploy|launch|demo|meeting|testing) "
        r"<when>",
        "rule": r"(?P<label>(?:.{0,50}?)(?:hamesha|kabhi (?:bhi )?|bina puche|bina pooche|har baar|ab se|aage se"
        r"|sirf) .{3,}|.{2,60}? mat (?:karna|kariye|badalna|hatana|chhuna|karo|chhedna)(?:$| .*))",
        "works": r"chal g[a]?ya|thee?k ho gaya|thik ho gaya|kaam kar raha hai|(?:solve|fix|sahi) ho gaya|ab theek hai",
        "complaint": r"<no> (?:chal|khul|ho|aa|dikh|bhej|ban) ?(?:raha|rahi|rahe|rha|ta|pa)?|kaam nahi kar|error (?:aa"
        r"|de|dikha)\S*|crash(?: ho)?(?: \S+)?|atak (?:ja|gaya|raha)|band ho (?:ja|gaya)|fail(?:ed)? (?:ho )?(?:ja"
        r"|gaya|raha|dikha)\S*|toot gaya|(?:khul|chal|aa|ho|dikh|bhej|ban|load ho|save ho) (?:hi )?<no>(?: rah[aie])?"
        r"|blank (?:ho|aa|dikh)|(?:screen|page) blank|hang ho|galat (?:aa|dikh|ho)|do baar|nahi (?:chala|chali|aaya"
        r"|aayi|khula|hua)|latka hua|slow (?:hai|ho)",
        "use": r"(?:theek hai,? |thik hai,? |ok,? |to |toh |accha,? |haan,? |phir |chalo )*(?P<label>[^,]{1,60}?) "
        r"<keep>(?:$|[,.] ?(?P<reason>.*))",
        "did": r"<verb> (?:diya|di|diye|liya|li)|taiyar hai|ready hai|ho (?:gaya|gayi|chuka)",
        "later": r"ba+ki (?:hai|hain)|abhi <no> (?:hua|bana|kiya)|<when> .{0,40}?(?:\S*<will>|karna hai|karte hain"
        r"|dekhte hain)|abhi (?:aaya|aayi|bana|bani|hua|hui) nahi",
        "set": r"\d+ ?(?:sec|second|min|minute|din|%|percent)?(?: tak)? (?:karo|kardo|kar do|karte hain|rakho)"
        r"|(?:tabhi|sirf tab) .{3,}|pehle(?: \S+)?,? (?:fir|phir) .{3,}",
        "order": r"(?:please |pls |ab |phir |fir |aur |pehle |bhai |yaar |zara |ek )*(?P<label>[^,]{3,100}? <verb>(?:o"
        r"|do| do| dena| dijiye|iye|na| lo| de| karo))(?:$|[,. ].*)",
        "need": r"(?:mujhe |hume |humein )?(?P<label>.{3,90}?(?:(?:banani|banana|karna|karni|likhna|jodna|lagana"
        r"|daalna) (?:hai|chahta|chahti|chahte)|ki (?:zaroorat|jarurat) hai|chahiye).*)",
    },
    unless={
        "bare": r".*(?: kya$|agar )",
        "no_want": r"(?:ye|yeh|wo|woh|isko|usko) ",
        "plan": r"(?:agar|kya|jab) |.*(?:sochunga|sochenge|dekhenge jab|use karenge|rakhenge|lenge)",
        "rule": r".*har baar .*(?:error|fail|crash)",
        "works": r".*(?:<no>|lekin|par |magar)",
        "complaint": r"(?:agar|jab) .*|.*(?:chahiye|ab nahi|mat |nahi hoga|taaki)",
        "use": r"(?:ye|yeh|wo|woh|wahi|sab) (?:hi )?(?:theek|sahi|rakh|use)",
        "did": r".*<no> .*|.*(?:crash|fail|band|theek|thik|fix|solve) ho gaya",
        "order": r".*\b(?:mat|use) ",
        "need": r".*<no> chahiye|.*(?:kya|kaise|kyun) ",
    },
    ahead={
        "left": (
            r".*(?:ki? wait|ka wait|ka intezaar).*|.{3,60} (?:baad me|baad mein) (?:karte|karenge|dekhenge|dekhte"
            r"|karunga).*",
        ),
        "plans": (r".{2,30} ko (?:bolna|batana|kehna|puchna|poochna) (?:hai|hoga|padega).*",),
        "past": r".*(?:hamesha|roz )",
    },
    said={
        "lead": r"(?:(?:haan|ha|theek hai|thik hai|accha|acha|ok|okay|nahi|arre?|thanks|shukriya|to|toh|aur|par|lekin"
        r"|badhiya|ji|bhai|yaar|sahi|chalo|hello|namaste|great|nice)[,.!:]+ ?|(?:aur|par|toh|to|lekin|phir|accha|yaar"
        r"|bhai|arre?|haan|ok) )",
        "asks": r"(?:kya|kyun|kyu|kaise|kab|kahan|kaun|kitn[aei]) ",
        "polite": r"(?:kya (?:aap|tum) |aap |tum )?(?P<rest>.{3,}?(?:<verb>|dikha) (?:sakte|sakti|doge|denge))(?: ho| "
        r"hain| hai)?",
        "supposes": r"agar|yadi|shayad|maan lo|ho sakta hai|example|soch rah|pata nahi|in theory|.*(?:sochenge"
        r"|sochunga)",
        "reports": r"(?:[\pL]+ ){1,3}(?:kehte|kehta|kehti|bola|bole|bolte|chahte|chahta) (?:hain|hai|the|tha)?",
        "border": r"[.;]\s+|,\s+(?:aur |par |lekin |phir |toh )?|\s+(?:lekin|aur phir|aur)\s+",
        "because": r",?\s+(?:kyunki|kyuki|kyonki|taaki|warna|isliye ki)\s+|^(?:kyunki|taaki|warna) |\s*\(",
        "trailer": r" (?:abhi|filhaal|please|pls|pehle|hi|bhai|yaar)",
        "offers": r"(?:kya main |main |chaho to |chahein to )(?P<label>.{3,}?)(?: dun| doon| du| sakta hun| sakta hoon"
        r"|\?|$)",
        "choosing": r"\b(?:raast[ae]|raste|tarik[ae]|tareek[ae]|options?|vikalp|choices?|ways)\b",
        "yes": r"haan|ha|han|ji|thee?k(?: hai)?|thik(?: hai)?|sahi(?: hai)?|bilkul|accha|acha|badhiya|kar do|kardo"
        r"|krdo|chalo|chalega|ho jaye|karo|wahi|ok|done|pakka",
        "no": r"nahi|nhi|nahin|na|mat karo|abhi nahi|rehne do|zaroorat nahi|baad mein",
        "soft": r"thanks|shukriya|hai|yeh|yahi|aisa|hi|toh|sab|bhai|yaar|please",
        "both": r"dono|dono hi",
        "every": r"sab|sabhi",
        "pick": r"option|number|toh|to|main|wo|woh",
        "picked": r" (?:number|wala|wali|wale|option|theek|sahi|rakh|chalega|hi)",
    },
    ordinals="pehla|pehli|pehle_wala dusra|doosra|dusri|dusra_wala teesra -1 aakhri|last_wala",
    cues="abhi accha acha aur baad baaki badal baki banao bhai bhi bina chahiye chal chalo daalo dalo dikh diya diye "
    "dunga dungi faisla fir gaya gayi haan hai hain hamesha hatao hoga hoon hota hua hui hume humein humne isko jab "
    "jagah kabhi kaise kar kardo karenge karna karo karta karte karti karunga ke ki koi kuch kya kyun kyunki lagana "
    "lagao lekin likho likhunga lunga lungi maine mein mera meri mujhe nahi nahin nhi pehle phir puche raha rahe "
    "rahi rakh rakhenge rakho rakhte rehne saath sirf tha theek thi thik toh usko wala wale wali wo woh yaar yeh",
)
"""The phrases and rules of Hindi in Latin letters (see ``tongue.Tongue``)."""
