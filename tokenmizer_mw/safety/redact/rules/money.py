"""Keys of payment services, shops, banks, shipping services and cryptocurrencies."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.rule import Token

MONEY: Final = (
    Token("stripe-key", "{sk|rk}_{live|test|prod|org}_{w16+}", counter="pk_live_{w24}"),
    Token("clerk-key", "{sk|ak}_{live|test}_{W40+}"),
    Token("webhook-secret", "whsec_{b24+}{e0-2}", counter="whsec_{L8}"),
    Token("square-token", "sq0{atp|csp|idp}-{W22+} EAAA{W60}", floor=3.0),
    Token("paypal-token", "access_token${production|sandbox}${l16}${h32}"),
    Token("paypal-bearer-token", "A21AA{W60+}"),
    Token("plaid-token", "{access|public|link}-{sandbox|development|production}-{uuid}"),
    Token("adyen-key", "AQE{w1}hm{b60+}{e0-2}"),
    Token("razorpay-key", "rzp_{live|test}_{w14}"),
    Token("flutterwave-key", "FLWSECK{-|_TEST-}{w12+}"),
    Token("mollie-key", "{live|test}_{w30}", counter="test_{L10}_{L10}", check="mixed"),
    Token("gocardless-token", "{live|sandbox}_{W40}", floor=3.3, check="mixed"),
    Token("lob-key", "{live|test}_{h35}", check="digits"),
    Token("checkout-key", "sk_{uuid} sk_sbox_{-26+} sk_{test_|}{uuid}"),
    Token("paddle-key", "pdl_{live|sdbx}_apikey_{W30+} pdl_ntfset_{W40+}"),
    Token("polar-token", "polar_{oat|pat|whs|at_u}_{W32+}"),
    Token("coinbase-key", "organizations/{uuid}/apiKeys/{uuid}"),
    Token("shopify-token", "{shpat|shpca|shppa|shpss|shpua|shprt|shpit}_{h32}"),
    Token("woocommerce-key", "{ck|cs}_{h40}"),
    Token("shippo-token", "shippo_{live|test}_{h40}"),
    Token("easypost-key", "{EZAK|EZTK}{w54}", check="digits"),
    Token("duffel-token", "duffel_{live|test}_{W43}"),
    Token("revenuecat-key", "{sk|appl|goog|strp}_{A32}", floor=3.5),
    Token("xendit-key", "xnd_{development|production}_{w40+}"),
    Token("midtrans-key", "{Mid|SB-Mid}-server-{W20+}"),
    Token("omise-key", "skey_{live|test}_{w19}"),
    Token("mercadopago-token", "{APP_USR|TEST}-{d13-16}-{d6}-{h32}-{d6-12}"),
    Token("conekta-key", "key_{w22}", floor=3.5, check="mixed"),
    Token("alchemy-key", "alcht_{w30}"),
    Token("bitcoin-wif-key", "5{k50} {K|L}{k51}", check="base58check"),
    Token("extended-private-key", "{xprv|yprv|zprv|tprv}{k107}"),
    Token("nostr-secret-key", "nsec1{z58}"),
    Token("stellar-secret-seed", "S{t55}", check="stellar"),
)
