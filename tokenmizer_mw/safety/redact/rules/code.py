"""Tokens of code hosting, CI, package registries and code quality services."""

from __future__ import annotations

from typing import Final

from tokenmizer_mw.safety.redact.rule import Token

CODE: Final = (
    Token("github-token", "gh{p|o|u|s|r}_{w30+}", counter="ghp_{L8}_{L8}", inside=True),
    Token("github-fine-grained-token", "github_pat_{_36+}", counter="github_pat_{L6}", inside=True),
    Token("github-app-token", "v1.{h40}"),
    Token(
        "gitlab-token",
        "{glpat|gldt|glrt|glrtr|glcbt|glptt|glft|glimt|glagent|glsoat|glffct|gloas|glwt}-{p20+}",
        counter="glpat-{L8}",
        inside=True,
    ),
    Token("gitlab-runner-registration", "GR1348941{W20+}"),
    Token("bitbucket-token", "{ATBB|ATCTT3xFf}{w24+} {ATBB|ATCTT3xFf}{W60+}{e0-1}{w0-8}"),
    Token("atlassian-token", "{ATATT3|ATSTT3|ATOATT3}{W60+}{e0-1}{w0-8}"),
    Token("azure-devops-token", "{w76}AZDO{w4}", around=True),
    Token("circleci-token", "{CCIPAT|CCIPRJ}_{w16+}_{h40}"),
    Token("buildkite-token", "{bkua|bkaj|bkct|bkpt|bkat}_{w30+}"),
    Token("harness-token", "{pat|sat}.{W22}.{h24}.{w20}"),
    Token("octopus-key", "API-{u25+}", floor=3.2, check="digits"),
    Token("launchdarkly-key", "{api|sdk|mob}-{uuid}"),
    Token("statsig-secret", "secret-{w32+}"),
    Token("npm-token", "npm_{w36}", counter="npm_{L6}_{L6}"),
    Token("pypi-token", "pypi-{AgEIcHlwaS5vcmc|AgENdGVzdC5weXBpLm9yZw}{W12+} pypi-AgE{W32+}", inside=True),
    Token("pypi-token", "pypi-{W16+}", check="mixed"),
    Token("rubygems-key", "rubygems_{h48}"),
    Token("cargo-token", "cio{w32}", check="mixed"),
    Token("nuget-key", "oy2{l43}", check="digits"),
    Token("clojars-token", "CLOJARS_{l60}"),
    Token("artifactory-key", "AKCp{w60+} cmVmd{w50+}"),
    Token("docker-token", "{dckr_pat|dckr_oat}_{W24+}"),
    Token("docker-swarm-token", "SWMTKN-{1|2-1}-{l20+}-{l10+}", inside=True),
    Token("hashicorp-cloud-secret", "hcp.{w30}.{W30+}"),
    Token("sonar-token", "{sqp|squ|sqa}_{h40}"),
    Token("snyk-token", "snyk_{uat|sat}.{h8}.{W40+}"),
    Token("gitguardian-token", "ggtt-v-{l10+}"),
    Token("postman-key", "PMAK-{h24}-{h34}"),
    Token("readme-key", "rdme_{l70}"),
    Token("figma-token", "{figd|figo|figu|figr|figh}_{W36+}"),
    Token("trigger-key", "tr_{prod|dev|stg|preview|pat}_{w20+}"),
    Token("prefect-key", "{pnu|pnb}_{w36}"),
    Token("weblate-token", "{wlu|wlp}_{w36+}"),
    Token("jfrog-reference-token", "cmVmdGtuOjAxOj{w40+}"),
)
