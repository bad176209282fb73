"""Tokens of databases, monitoring, analytics, maps, identity and other services."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.rule import Token

DATA: Final = (
    Token("databricks-token", "dapi{h32} dapi{h32}-{d1} dose{h32}", counter="dapi{L9}"),
    Token("dynatrace-token", "{dt0c01|dt0s01|dt0s16|dt0s06|dt0s02}.{u24}.{u64} {dt0s16|dt0s02}.{u8}.{u64}"),
    Token("newrelic-key", "NRAK-{u27} NRJS-{h19} NRII-{W32} NRAA-{h27} NRRA-{h42} {h36}NRAL {h36}FFFFNRAL"),
    Token("sentry-token", "sntrys_{b40+}{e0-2} sntrys_eyJ{b40+}{e0-2}_{b43} sntryu_{h64}"),
    Token("grafana-token", "glc_{b32+}{e0-2} glsa_{w32}_{h8} eyJrIjoi{W60+}{e0-2}"),
    Token("honeycomb-key", "{hcaik|hcbik|hcxik|hcalk|hcblk|hcxlk}_{l26+}"),
    Token("axiom-token", "{xaat|xapt}-{uuid}"),
    Token("checkly-key", "cu_{h32}"),
    Token("posthog-key", "{phx|phs|phr}_{W40+}", counter="phc_{w43}"),
    Token("datadog-token", "{ddapp|ddapi|ddpat}_{w34+}"),
    Token("dbt-token", "{dbtc|dbtu|dbts}_{W24+}"),
    Token("elastic-key", "essu_{B40+}{e0-2}"),
    Token("confluent-secret", "cflt{b60}"),
    Token("aiven-password", "AVNS_{W19}"),
    Token("cockroachdb-key", "CCDB1_{W22}_{W40}"),
    Token("clickhouse-key", "4b1d{w38}"),
    Token("tinybird-token", "p.eyJ{W40+}.{W40+}"),
    Token("xata-key", "xau_{w40+}"),
    Token("fauna-secret", "fn{A1}E{W36}"),
    Token("maxmind-key", "{w6}_{w29}_mmk"),
    Token("mapbox-token", "{sk|tk}.eyJ{W50+}.{W20+}", counter="pk.eyJ{W60}.{W22}"),
    Token("fullstory-key", "na1.{b60+}{e0-2}", check="mixed"),
    Token("okta-token", "00{W40}", floor=3.8, check="mixed"),
    Token("workos-key", "sk_{b60+}{e0-2}", floor=3.5, check="mixed"),
    Token("stytch-secret", "secret-{live|test}-{W32+}{e0-2}"),
    Token("snowflake-token", "ver:{d1-2}-hint:{d2-16}-ETMsD{b40+}{e0-2}"),
    Token("logfire-token", "pylf_v{d1}_{us|eu}_{w30+}"),
    Token("baseten-key", "{w8}.{w32}", floor=4.0, counter="{L8}.{L32}", check="mixed"),
    Token("yandex-metrica-token", "y0_{W40+}"),
    Token("yandex-oauth-token", "AQAAAA{W32}"),
    Token("growthbook-key", "secret_{admin|user|readonly}_{w32+}"),
    Token("configcat-key", "configcat-sdk-1/{W22}/{W22}"),
    Token("nightfall-key", "NF-{w32}"),
    Token("censys-key", "censys_{w8}_{w24+}"),
)
