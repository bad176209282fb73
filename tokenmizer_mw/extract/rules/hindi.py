"""Hindi in Devanagari and in Latin script, mixed with English as people mix it."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.extract.similar import words_of

from .rule import Act, Rule, Speaker
from .tongue import Tongue

_USER, _ASSISTANT, _BOTH = Speaker.USER, Speaker.ASSISTANT, Speaker.BOTH

_DO: Final = (
    r"(?:कर(?:ो|ें|िए|िये| दो| दीजिए| दें|ना|वाओ| लो| लें| लीजिए)|बना(?:ओ|इए|एँ|एं|ना| दो"
    r"| दीजिए| लो)|जोड़(?:ो|ें|िए|ना| दो| दीजिए)|हटा(?:ओ|इए|ना| दो| दीजिए)|लिख(?:ो|ें|िए"
    r"|ना| दो| दीजिए)|बदल(?:ो|ें|िए|ना| दो| दीजिए)|लगा(?:ओ|इए|ना| दो| दीजिए)|डाल(?:ो|ें|िए"
    r"|ना| दो| दीजिए)|रख(?:ो|ें|िए|ना| दो)|सुधार(?:ो|ें|िए|ना| दो)|भेज(?:ो|ें|िए|ना| दो)"
    r"|दिखा(?:ओ|इए|ना| दो)|बता(?:ओ|इए))"
)
_LDO: Final = (
    r"(?:kar(?:o|do| do| dena| dijiye|iye|na| lo| de)|kr(?: do|do|o|na)|bana(?:o|iye| do"
    r"|na| de)|jod(?:o| do|na)|hata(?:o|iye| do|na|do)|likh(?:o|iye| do|na)|badal(?:o| do"
    r"|na)|laga(?:o| do|na|do)|daal(?:o| do|na|do)|dal(?:o| do|na|do)|rakh(?:o|na| do)|bhej"
    r"(?:o| do|na)|dikha(?:o| do|na)|fix karo|add karo)"
)

DEVANAGARI: Final = (
    Rule(
        "hi.goal",
        _BOTH,
        Act.GOAL,
        r"(?:हमारा |मेरा |आज का )?(?:लक्ष्य|उद्देश्य|मकसद)(?: है| यह है|:| -)+(?: कि)? ?(?P<label>.{4,})",
        0.92,
        "लक्ष्य: मरम्मत की दुकान का बुकिंग पन्ना",
        "लक्ष्य साफ़ दिखता नहीं",
        explicit=True,
    ),
    Rule(
        "hi.decided",
        _BOTH,
        Act.CHOICE,
        r"(?:फ़ैसला|फैसला|निर्णय|तय हुआ|तय)(?: -|:) ?(?P<label>.{2,})",
        0.92,
        "फ़ैसला: दाम पैसों में रखेंगे",
        "फ़ैसला मुश्किल था",
        explicit=True,
    ),
    Rule(
        "hi.pending",
        _BOTH,
        Act.LATER,
        r"(?:बाकी(?: काम)?|बाक़ी|अगला कदम|करना है|लंबित)(?: -|:) ?(?P<label>.{3,})",
        0.92,
        "बाकी: ईमेल का अनुवाद",
        "बाकी सब ठीक",
        explicit=True,
    ),
    Rule(
        "hi.done_mark",
        _BOTH,
        Act.CLAIM,
        r"(?:हो गया|पूरा हुआ|पूरा|किया)(?: -|:) ?(?P<label>.{3,})",
        0.9,
        "हो गया: ग्राहकों की तालिका",
        "हो गया तो अच्छा",
        explicit=True,
    ),
    Rule(
        "hi.instead",
        _USER,
        Act.REPLACE,
        r"(?P<target>.{1,40}?) (?:की जगह|के बजाय|के बदले|के बदले में|नहीं,) (?P<label>[^,।]{1,60}?)"
        r"(?: (?:ही |को )?(?:रख|लगा|इस्तेमाल|ले|चल|कर|बेहतर|ठीक).*|$)",
        0.9,
        "bcrypt की जगह argon2 रखो",
        "घर की बात है",
        whole=True,
    ),
    Rule(
        "hi.turned",
        _USER,
        Act.REPLACE,
        r"(?:नहीं,? |अब |अच्छा,? )*(?P<label>[^,।]{2,50}?) (?:ही ठीक रहेग[ािी]|ही बेहतर (?:है"
        r"|रहेगा)|पर चलते हैं|पर (?:जाते|आते) हैं|में बदल दो)(?:$|[,।] ?(?P<reason>.*))",
        0.84,
        "पर्ची ही ठीक रहेगी",
        "वह ठीक है",
    ),
    Rule(
        "hi.drop",
        _USER,
        Act.REJECT,
        r"(?P<label>[^,।]{2,40}?) (?:छोड़(?:ो|िए|ें|ते हैं| दो| दीजिए)|नहीं चाहिए|नहीं (?:लेंगे"
        r"|रखेंगे|चलेगा|चलेगी|करेंगे)|मत (?:रखो|लगाओ|जोड़ो|डालो|लो)|रहने (?:दो|दीजिए))(?:$|[,।] ?"
        r"(?P<reason>.*))",
        0.8,
        "कूपन छोड़ दो",
        "वह घर छोड़ गया",
        unless=r"(?:यह|वह|ये|वो|इसे|उसे) ",
    ),
    Rule(
        "hi.rule",
        _USER,
        Act.RULE,
        r"(?P<label>(?:.{0,50}?)(?:हमेशा|कभी (?:भी )?|बिना पूछे|हर बार|अब से|आगे से|ज़रूर) ?.{3,}"
        r"|.{2,60}? मत (?:करना|कीजिए|बदलना|हटाना|छूना|छुओ|करो)|(?:जवाब )?(?:हिंदी|हिन्दी) में .*)",
        0.82,
        "हमेशा छोटा जवाब देना",
        "वह कल आया",
    ),
    Rule(
        "hi.prefer",
        _USER,
        Act.PREFERENCE,
        r"(?:मुझे|हमें) (?P<label>.{3,60}?) (?:(?:ज़्यादा |ज्यादा )?पसंद (?:है|हैं)|अच्छा लगता है" r"|बेहतर लगता है).*",
        0.78,
        "मुझे सादी भाषा पसंद है",
        "मुझे पता है",
    ),
    Rule(
        "hi.still",
        _USER,
        Act.STILL,
        r"(?P<label>.{0,60}?(?:अब भी|अभी भी|फिर से|अब तक) .{0,30}?(?:नहीं|गड़बड़|एरर|त्रुटि|खराब" r"|वही|फेल).*)",
        0.82,
        "लॉगिन अब भी नहीं चल रहा",
        "अभी भी सुबह है",
    ),
    Rule(
        "hi.works",
        _USER,
        Act.CONFIRM,
        r"(?P<label>.{0,30}?(?:चल गया|ठीक हो गया|चलने लगा|काम कर रहा है|सही हो गया|हल हो गया" r"|अब ठीक है).*)",
        0.78,
        "अब ठीक हो गया, धन्यवाद",
        "क्या चल रहा है",
        unless=r".*(?:नहीं|लेकिन|पर ).*",
    ),
    Rule(
        "hi.complaint",
        _USER,
        Act.COMPLAINT,
        r"(?P<label>.{2,70}?(?:नहीं (?:चल|खुल|हो|आ|दिख|भेज|बन|छप) ?(?:रहा|रही|रहे|ता|ती|पा)|काम नहीं कर"
        r"|एरर (?:आ|दे)|त्रुटि (?:आ|दे)|अटक (?:जा|गया|रहा)|बंद हो (?:जा|गया)|गड़बड़|टूट गया|फेल हो "
        r"(?:जा|गया|रहा)).*)",
        0.76,
        "भुगतान का बटन फ़ोन पर काम नहीं कर रहा",
        "यह नहीं होगा",
    ),
    Rule(
        "hi.did",
        _BOTH,
        Act.CLAIM,
        r"(?:मैंने |हमने )?(?P<label>.{3,80}? (?:कर (?:दिया|दी|दिए|ली|लिया|लिए|ली हैं|लिए हैं)"
        r"|बना (?:दिया|दी|लिया|ली)|जोड़ (?:दिया|दी|दिए)|हटा (?:दिया|दी)|लिख (?:दिया|दी|लिया)"
        r"|बदल (?:दिया|दी)|चुन (?:ली|लिया|लिए)|पूछ लिया|भेज (?:दिया|दी)|लगा (?:दिया|दी)|तैयार है"
        r"|हो (?:गया|गई|चुका|चुकी)|पूरा हुआ)(?: है| हैं)?(?: मैंने)?)(?:$|[,।. ].*)",
        0.74,
        "मैंने स्थिति वाला खाना जोड़ दिया है",
        "मैंने सोचा नहीं",
        unless=r".*नहीं.*|.*(?:ठीक|बंद|फेल|साफ़|देर) हो (?:गया|गई)",
    ),
    Rule(
        "hi.later",
        _BOTH,
        Act.LATER,
        r"(?P<label>.{2,80}?(?:बाकी (?:है|हैं)|बाक़ी|अभी (?:नहीं )?(?:बनी|बना|हुआ|हुई) नहीं|करना "
        r"(?:बाकी )?है$|लेने हैं|लेना है|निकालनी (?:पड़ेगी|है)|करनी (?:है|पड़ेगी)|(?:कल|बाद में"
        r"|अगले हफ़्ते|अगले हफ्ते|सोमवार को|शाम को) .{0,40}?(?:ूँगा|ूँगी|ूंगा|ूंगी|ेंगे|करना है)).*)",
        0.76,
        "दो कोटेशन अभी बाकी हैं",
        "वह बाद में आया",
    ),
    Rule(
        "hi.use",
        _USER,
        Act.CHOICE,
        r"(?:ठीक है,? |तो |अच्छा,? |हाँ,? |फिर )*(?P<label>[^,।]{1,60}?) (?:रखते हैं|रखेंगे|रख लो"
        r"|ही लीजिए|लीजिए|लेते हैं|इस्तेमाल कर(?:ो|ते हैं|ेंगे|ें|िए)|चुनते हैं|से करते हैं|के साथ चलते हैं"
        r"|ठीक(?: है)?$|ही रखो|रखिए|लिख लीजिए)(?:$|[,।] ?(?P<reason>.*))",
        0.8,
        "दुकान पर भुगतान रखते हैं",
        "वह रखता है",
        unless=r"(?:यह|वह|ये|वो|वही|सब|अब|यही|बिल्कुल|बहुत|बात) ?",
    ),
    Rule(
        "hi.not_all", _USER, Act.CHOICE, r"(?P<label>पहले [^।]{3,60}? (?:में|से|पर|तक))$", 0.7, "पहले आठ दुकानों में", "पहले तुम"
    ),
    Rule(
        "hi.order",
        _USER,
        Act.REQUEST,
        rf"(?:कृपया |अब |फिर |और |पहले |साथ ही |ज़रा )*(?P<label>[^।]{{3,100}}? {_DO})(?:$|[,।. ].*)",
        0.78,
        "सूची में तारीख का फ़िल्टर जोड़ दो",
        "वह जोड़ता है",
        unless=r".*(?:बताइए|बताओ|मत )",
    ),
    Rule(
        "hi.need",
        _USER,
        Act.REQUEST,
        r"(?:मुझे |हमें )?(?P<label>.{3,90}?(?:(?:बनानी|बनाना|करना|करनी|लिखना|लिखनी|जोड़ना) "
        r"(?:है|चाहता|चाहती|चाहते)|की (?:ज़रूरत|जरूरत) है|चाहिए).*)",
        0.76,
        "हमें वापसी का पन्ना चाहिए",
        "मुझे नहीं चाहिए",
        unless=r".*नहीं चाहिए",
    ),
    Rule(
        "hi.propose",
        _ASSISTANT,
        Act.PROPOSAL,
        r"(?:सुझाव:|मेरा सुझाव(?: है)?(?: कि)?|बेहतर होगा(?: कि)?) ?(?P<label>.{4,})",
        0.6,
        "सुझाव: Redis में सत्र रखें",
        "सुझाव अच्छा था",
    ),
)

LATIN: Final = (
    Rule(
        "hinglish.decided",
        _BOTH,
        Act.CHOICE,
        r"(?:final|faisla|decided|tay|pakka)(?: hua| hai)?(?:,|:| -) ?(?P<label>.{2,})",
        0.86,
        "faisla: daam paise mein rakhenge",
        "faisla mushkil tha",
        explicit=True,
    ),
    Rule(
        "hinglish.pending",
        _BOTH,
        Act.LATER,
        r"(?:baaki|baki|pending)(?: hai| kaam)?: ?(?P<label>.{3,})",
        0.9,
        "baaki: email ka translation",
        "baaki sab theek hai",
        explicit=True,
    ),
    Rule(
        "hinglish.instead",
        _USER,
        Act.REPLACE,
        r"(?P<target>.{1,40}?) (?:ki jagah|ke bajay|ke badle|nahi,|chhod ke|hata ke|hatao,?|chodo,?"
        r"|chhodo,?) (?P<label>[^,]{1,60}?)(?: (?:hi |ko |pe )?(?:rakh|laga|use|le|chal|kar|better"
        r"|daal|switch|theek|try).*|$)",
        0.9,
        "bcrypt ki jagah argon2 use karo",
        "ghar ki baat hai",
        whole=True,
    ),
    Rule(
        "hinglish.no",
        _USER,
        Act.REJECT,
        r"(?P<label>[^,]{2,40}?) (?:nahi chahiye|nhi chahiye|nahin chahiye|mat (?:use karo|daalo"
        r"|dalo|lagao|rakho)|rehne do|chhod do|chhodo|chodo|chod do|nahi (?:lenge|rakhenge|chalega"
        r"|karenge))(?:$|[,.] ?(?P<reason>.*)| (?P<why>.*))",
        0.8,
        "coupon wala feature rehne do",
        "wo ghar mein nahi hai",
        unless=r"(?:ye|yeh|wo|woh|isko|usko) ",
    ),
    Rule(
        "hinglish.rule",
        _USER,
        Act.RULE,
        r"(?P<label>(?:.{0,50}?)(?:hamesha|kabhi (?:bhi )?|bina puche|bina pooche|har baar|ab se"
        r"|aage se) .{3,}|.{2,60}? mat (?:karna|kariye|badalna|hatana|chhuna|karo|chhedna)(?:$"
        r"| .*))",
        0.82,
        "bina puche kuch delete mat karna",
        "wo kal aaya tha",
        unless=r".*har baar .*(?:error|fail|crash)",
    ),
    Rule(
        "hinglish.prefer",
        _USER,
        Act.PREFERENCE,
        r"(?:mujhe|hume|humein) (?P<label>.{3,60}?) (?:(?:zyada |jyada )?pasand (?:hai|hain)"
        r"|(?:accha|acha) lagta hai).*",
        0.78,
        "mujhe simple design pasand hai",
        "mujhe pata hai",
    ),
    Rule(
        "hinglish.still",
        _USER,
        Act.STILL,
        r"(?P<label>.{0,60}?(?:ab bhi|abhi bhi|abhi tak|phir se|fir se|wahi) .{0,30}?(?:nahi"
        r"|nhi|error|fail|crash|same|wahi|kharab|aa raha).*)",
        0.82,
        "login abhi bhi nahi chal raha",
        "abhi bhi subah hai",
    ),
    Rule(
        "hinglish.works",
        _USER,
        Act.CONFIRM,
        r"(?P<label>.{0,30}?(?:chal gaya|chal gya|theek ho gaya|thik ho gaya|kaam kar raha hai"
        r"|ho gaya (?:solve|fix)|solve ho gaya|fix ho gaya|sahi ho gaya|ab theek hai).*)",
        0.78,
        "ab theek ho gaya, thanks",
        "kya chal raha hai",
        unless=r".*(?:nahi|lekin|par |magar).*",
    ),
    Rule(
        "hinglish.complaint",
        _USER,
        Act.COMPLAINT,
        r"(?P<label>.{2,70}?(?:nahi (?:chal|khul|ho|aa|dikh|bhej|ban) ?(?:raha|rahi|rahe|ta|pa)"
        r"|nhi (?:chal|khul|ho|aa|dikh) ?(?:raha|rahi|rha)|kaam nahi kar|error (?:aa|de|aata"
        r"|aaya)|crash ho (?:raha|gaya|jata)|atak (?:ja|gaya|raha)|band ho (?:ja|gaya)|fail ho "
        r"(?:ja|gaya|raha)|toot gaya).*)",
        0.76,
        "payment button phone pe kaam nahi kar raha",
        "ye nahi hoga",
    ),
    Rule(
        "hinglish.did",
        _BOTH,
        Act.CLAIM,
        r"(?:maine |humne )?(?P<label>.{3,80}? (?:kar (?:diya|di|diye|liya|li)|bana (?:diya|di"
        r"|liya|li)|jod (?:diya|di)|hata (?:diya|di)|likh (?:diya|di|liya)|badal (?:diya|di)"
        r"|laga (?:diya|di)|daal (?:diya|di)|bhej (?:diya|di)|taiyar hai|ready hai|ho (?:gaya"
        r"|gayi|chuka))(?: hai| hain)?)(?:$|[,. ].*)",
        0.74,
        "maine status column add kar diya hai",
        "maine socha nahi",
        unless=r".*(?:nahi|nhi) .*|.*(?:crash|fail|band|theek|thik|fix|solve) ho gaya",
    ),
    Rule(
        "hinglish.later",
        _BOTH,
        Act.LATER,
        r"(?P<label>.{2,80}?(?:baaki hai|baki hai|baaki hain|abhi nahi (?:hua|bana|kiya)|(?:kal"
        r"|baad mein|baad me|next week|shaam ko|monday ko) .{0,40}?(?:unga|ungi|enge|karna hai"
        r"|dunga|lunga|karte hain|dekhte hain)).*)",
        0.76,
        "cart ke tests abhi baaki hai",
        "wo baad mein aaya",
    ),
    Rule(
        "hinglish.use",
        _USER,
        Act.CHOICE,
        r"(?:theek hai,? |thik hai,? |ok,? |to |toh |accha,? |haan,? |phir |chalo )*(?P<label>[^,]{1,60}?) "
        r"(?:rakhte hain|rakhte hai|rakhenge|rakh lo|hi lo|lete hain|le lo|use (?:karo|karte hain"
        r"|karenge|karlo|kar lo|karna)|se karte hain|ke saath chalte hain|pe chalte hain|hi rakho"
        r"|hi theek hai|theek rahega|hi sahi hai|final hai|final karo)(?:$|[,.] ?(?P<reason>.*))",
        0.8,
        "shop pe payment rakhte hain",
        "wo rakhta hai",
        unless=r"(?:ye|yeh|wo|woh|wahi|sab) (?:hi )?(?:theek|sahi|rakh|use)",
    ),
    Rule(
        "hinglish.order",
        _USER,
        Act.REQUEST,
        rf"(?:please |pls |ab |phir |fir |aur |pehle |bhai |yaar |zara |ek )*(?P<label>[^,]{{3,100}}? {_LDO})"
        r"(?:$|[,. ].*)",
        0.78,
        "list mein date ka filter add kar do",
        "wo filter lagata hai",
        unless=r".*\b(?:mat|use) ",
    ),
    Rule(
        "hinglish.need",
        _USER,
        Act.REQUEST,
        r"(?:mujhe |hume |humein )?(?P<label>.{3,90}?(?:(?:banani|banana|karna|karni|likhna|jodna"
        r"|lagana|daalna) (?:hai|chahta|chahti|chahte)|ki (?:zaroorat|jarurat) hai|chahiye).*)",
        0.76,
        "hume returns ka page chahiye",
        "mujhe nahi chahiye",
        unless=r".*(?:nahi|nhi|nahin) chahiye|.*(?:kya|kaise|kyun) ",
    ),
    Rule(
        "hinglish.propose",
        _ASSISTANT,
        Act.PROPOSAL,
        r"(?:mera suggestion hai(?: ki)?|better hoga(?: ki)?|main suggest karunga(?: ki)?) (?P<label>.{4,})",
        0.6,
        "better hoga ki Redis mein sessions rakhein",
        "acha suggestion hai",
    ),
)

HINDI: Final = Tongue(
    code="hi",
    rules=DEVANAGARI,
    lead=r"(?:(?:हाँ|हां|ठीक है|ठीक|अच्छा|नहीं|अरे(?: नहीं)?|नमस्ते|नमस्कार|धन्यवाद|शुक्रिया|तो"
    r"|और|पर|लेकिन|बढ़िया|जी|हाँ जी|सही|समझ गया|समझ गई|यानी)[,।.!:]+ ?|(?:और|पर|तो|लेकिन"
    r"|फिर|अच्छा|यानी|अरे) )",
    asks=r"(?:क्या|क्यों|कैसे|कब|कहाँ|कौन|कितन[ाेी]) ",
    polite=r"(?:क्या आप |क्या तुम |आप |तुम )?(?P<rest>.{3,}?(?:कर|बना|जोड़|हटा|लिख|बदल|लगा|डाल|दिखा) "
    r"(?:सकते|सकती|दोगे|देंगे))(?: हो| हैं| है)?",
    supposes=r"(?:अगर|यदि|शायद|मान लो|मान लीजिए|हो सकता है|उदाहरण|सोच रह|पता नहीं|आम तौर)|.*(?:सोचूँगी" r"|सोचूँगा|सोचेंगे)",
    reports=r"(?:[^\s,।]+ ){1,3}(?:कहते|कहती|कहता|बोले|बोलते|चाहते|चाहता|मानते) (?:हैं|है|थे|था)?",
    border=r"।\s*|[,;]\s+(?:और |पर |लेकिन |फिर |तो )?|\s+(?:लेकिन|और फिर|और साथ ही)\s+",
    because=r",?\s+(?:क्योंकि|चूँकि|ताकि|वरना|इसलिए कि)\s+|^(?:क्योंकि|ताकि|वरना) |\s*\(",
    trailer=r" (?:अभी|फ़िलहाल|फिलहाल|प्लीज़|कृपया|पहले|ही)",
    offers=r"(?:क्या (?:मैं|हम) |चाहें तो |मैं )(?P<label>.{3,}?)(?: दूँ| दूं| सकता हूँ| सकती हूँ" r"|\?|$)",
    choosing=r"(?:विकल्प|तरीक|रास्त|संभावना|उपाय)",
    either=r"[,;]?\s+या\s+(?:फिर\s+)?",
    yes=r"हाँ|हां|जी|जी हाँ|ठीक(?: है)?|सही(?: है)?|बिल्कुल|अच्छा|बढ़िया|मंज़ूर|कर दो|कर दीजिए"
    r"|चलो|चलेगा|चलिए|हो जाए|करो|कीजिए|वही|ओके",
    no=r"नहीं|ना|मत|अभी नहीं|रहने दो|रहने दीजिए|ज़रूरत नहीं|बाद में",
    soft=r"धन्यवाद|शुक्रिया|है|यह|यही|ऐसा|ही|तो|सब",
    both=r"दोनों|सब|सभी|दोनों ही",
    pick=r"विकल्प|नंबर|तो|मैं|रखते हैं",
    picked=r" (?:नंबर|वाला|वाली|वाले|विकल्प|ठीक|सही|रख|चुन)",
    ordinals={
        "पहला": 0,
        "पहली": 0,
        "पहले वाला": 0,
        "दूसरा": 1,
        "दूसरी": 1,
        "दूसरे वाला": 1,
        "तीसरा": 2,
        "तीसरी": 2,
        "आखिरी": -1,
    },
)

HINGLISH: Final = Tongue(
    code="hinglish",
    rules=LATIN,
    cues=words_of(
        "dunga dungi lunga lungi jab sirf kuch koi dikh chal hua hui tha thi karti karta rahe hoon "
        "hai hain nahi nhi nahin karo kardo karna kar karte karenge chahiye mujhe mera meri hume humein maine"
        " humne aur lekin kyunki kya kaise kyun wala wali wale mein bhi abhi theek thik accha acha haan"
        " rakhte rakho rakhenge rakh lagao lagana daalo dalo banao banana hatao badal likho likhunga kal baad"
        " baaki baki faisla hamesha kabhi bina puche ki jagah ke saath raha rahi gaya gayi diya diye wo woh"
        " ye yeh isko usko chalo phir fir rehne"
        " mat hota hoga karunga bhai yaar hi toh pehle"
    )
    - words_of("hi mat kal banana ye"),
    lead=r"(?:(?:haan|ha|theek hai|thik hai|accha|acha|ok|okay|nahi|arre?|thanks|shukriya|to|toh"
    r"|aur|par|lekin|badhiya|ji|bhai|yaar|sahi|chalo|hello|namaste|great|nice)[,.!:]+ ?|"
    r"(?:aur|par|toh|to|lekin|phir|accha|yaar|bhai|arre?|haan|ok) )",
    asks=r"(?:kya|kyun|kyu|kaise|kab|kahan|kaun|kitn[aei]) ",
    polite=r"(?:kya (?:aap|tum) |aap |tum )?(?P<rest>.{3,}?(?:kar|bana|jod|hata|likh|badal|laga"
    r"|daal|dikha) (?:sakte|sakti|doge|denge))(?: ho| hain| hai)?",
    supposes=r"(?:agar|yadi|shayad|maan lo|ho sakta hai|example|soch rah|pata nahi|in theory)|.*(?:sochenge"
    r"|sochunga)",
    reports=r"(?:[\pL]+ ){1,3}(?:kehte|kehta|kehti|bola|bole|bolte|chahte|chahta) (?:hain|hai|the" r"|tha)?",
    border=r"[.;]\s+|,\s+(?:aur |par |lekin |phir |toh )?|\s+(?:lekin|aur phir|aur)\s+",
    because=r",?\s+(?:kyunki|kyuki|kyonki|taaki|warna|isliye ki)\s+|^(?:kyunki|taaki|warna) |\s*\(",
    trailer=r" (?:abhi|filhaal|please|pls|pehle|hi|bhai|yaar)",
    offers=r"(?:kya main |main |chaho to |chahein to )(?P<label>.{3,}?)(?: dun| doon| du| sakta hun"
    r"| sakta hoon|\?|$)",
    choosing=r"\b(?:raast[ae]|raste|tarik[ae]|tareek[ae]|options?|vikalp|choices?|ways)\b",
    either=r"[,;]?\s+(?:ya|or)\s+(?:(?:phir|fir)\s+)?",
    yes=r"haan|ha|han|ji|theek(?: hai)?|thik(?: hai)?|sahi(?: hai)?|bilkul|accha|acha|badhiya"
    r"|kar do|kardo|krdo|chalo|chalega|ho jaye|karo|wahi|ok|done|pakka",
    no=r"nahi|nhi|nahin|na|mat karo|abhi nahi|rehne do|zaroorat nahi|baad mein",
    soft=r"thanks|shukriya|hai|yeh|yahi|aisa|hi|toh|sab|bhai|yaar|please",
    both=r"dono|sab|dono hi|sabhi",
    pick=r"option|number|toh|to|main|wo|woh",
    picked=r" (?:number|wala|wali|wale|option|theek|sahi|rakh|chalega|hi)",
    ordinals={
        "pehla": 0,
        "pehli": 0,
        "pehle wala": 0,
        "dusra": 1,
        "doosra": 1,
        "dusri": 1,
        "dusra wala": 1,
        "teesra": 2,
        "aakhri": -1,
        "last wala": -1,
    },
)
