//! The token formats, as data.

/// How tokens of one kind look.
pub(crate) struct TokenFormat {
    /// The name of the rule.
    pub(crate) name: &'static str,
    /// Texts of which every token has one.
    pub(crate) anchors: &'static [&'static str],
    /// How many bytes of the token stand before the anchor.
    pub(crate) offset: usize,
    /// What stands before the token.
    pub(crate) before: Before,
    /// A regular expression for the whole token; its group is the secret.
    pub(crate) pattern: &'static str,
    /// What the secret must have; placeholders do not.
    pub(crate) least: Least,
}

/// What tells a secret from a placeholder.
pub(crate) enum Least {
    /// Entropy, bits per byte.
    Entropy(f64),
    /// The look of a random value, where the anchor is an ordinary word.
    Random,
}

/// What stands before a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// Something else than letters, digits, `_` and `-`, or an escape.
    Other,
    /// A letter or a digit: the anchor begins within a path.
    Word,
    /// A digit.
    Digit,
}

const fn token(name: &'static str, anchors: &'static [&'static str], pattern: &'static str) -> TokenFormat {
    TokenFormat { name, anchors, offset: 0, before: Before::Other, pattern, least: Least::Entropy(2.5) }
}

impl TokenFormat {
    const fn at(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    const fn after(self, before: Before) -> Self {
        Self { before, ..self }
    }

    const fn least(self, least: Least) -> Self {
        Self { least, ..self }
    }
}

/// The formats. Where a provider documents a fixed prefix, it is not part of the secret.
#[rustfmt::skip]
pub(crate) const FORMATS: &[TokenFormat] = &[
    // Clouds.
    token("aws-access-key-id", &["AKIA", "ASIA", "ABIA", "ACCA"], r"(?:AKIA|ASIA|ABIA|ACCA)([A-Z0-9]{16})"),
    token("aws-bedrock-key", &["ABSK"], r"ABSK([A-Za-z0-9+/]{100,}={0,2})"),
    token("aws-bedrock-short-key", &["bedrock-api-key-"], r"bedrock-api-key-([A-Za-z0-9+/=]{20,})"),
    token("gcp-api-key", &["AIza"], r"AIza([\w-]{35})").least(Least::Entropy(3.0)),
    token("google-oauth-secret", &["GOCSPX-"], r"GOCSPX-([\w-]{28})"),
    token("google-oauth-token", &["ya29."], r"ya29\.([\w-]{20,})"),
    token("azure-ad-client-secret", &["Q~"], r"([\w~.]{3}\dQ~[\w~.-]{31,34})").at(4),
    token("azure-account-key", &["AccountKey=", "SharedAccessKey=", "SharedSecretKey="], r"(?:AccountKey|SharedAccessKey|SharedSecretKey)=([A-Za-z0-9+/]{43,86}={0,2})").least(Least::Entropy(3.5)),
    token("azure-shared-access-signature", &["sig="], r"sig=([A-Za-z0-9%+/]{43,90}(?:%3D|=)?)").least(Least::Entropy(3.5)),
    token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[por]_v1_([a-f0-9]{64})"),
    token("alibaba-access-key-id", &["LTAI"], r"LTAI([A-Za-z0-9]{16,24})").least(Least::Entropy(3.0)),
    token("heroku-api-key", &["HRKU-AA"], r"HRKU-AA([\w-]{58})"),
    token("cloudflare-origin-ca-key", &["v1.0-"], r"v1\.0-([a-f0-9]{24}-[a-f0-9]{146})"),
    token("flyio-token", &["fo1_", "fm1r_", "fm1a_", "fm2_"], r"f(?:o1|m1[ar]|m2)_([\w+/=-]{40,})"),
    token("databricks-token", &["dapi"], r"dapi([a-f0-9]{32}(?:-\d)?)"),
    token("clickhouse-cloud-key", &["4b1d"], r"4b1d([A-Za-z0-9]{38})").least(Least::Entropy(3.0)),
    token("scalingo-token", &["tk-us-"], r"tk-us-([\w-]{48})"),

    // Code hosting, packages, infrastructure.
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_([A-Za-z0-9]{36,255})"),
    token("github-fine-grained-token", &["github_pat_"], r"github_pat_(\w{36,255})"),
    token("gitlab-token", &["glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-", "glwt-"], r"gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-([\w.-]{20,})"),
    token("gitlab-runner-registration-token", &["GR1348941"], r"GR1348941([\w-]{20})"),
    token("gitlab-session", &["_gitlab_session="], r"_gitlab_session=([0-9a-z]{32})"),
    token("bitbucket-token", &["ATBB", "ATCTT3xFfG", "ATATT3"], r"AT(?:BB|CTT3xFfG|ATT3)([\w=-]{24,})"),
    token("npm-token", &["npm_"], r"npm_([A-Za-z0-9]{36})"),
    token("pypi-token", &["pypi-AgE"], r"pypi-AgE([\w-]{50,})"),
    token("rubygems-token", &["rubygems_"], r"rubygems_([a-f0-9]{48})"),
    token("nuget-key", &["oy2"], r"oy2([a-z0-9]{43})").least(Least::Entropy(3.5)),
    token("clojars-token", &["CLOJARS_"], r"CLOJARS_([a-z0-9]{60})"),
    token("docker-token", &["dckr_pat_", "dckr_oat_"], r"dckr_[po]at_([\w-]{27,32})"),
    token("artifactory-key", &["AKCp"], r"AKCp([A-Za-z0-9]{69})"),
    token("artifactory-reference-token", &["cmVmdGtu"], r"cmVmdGtu([A-Za-z0-9]{56})"),
    token("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.([\w-]{24,})"),
    token("terraform-token", &["atlasv1."], r"([A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70})").at(15),
    token("pulumi-token", &["pul-"], r"pul-([a-f0-9]{40})"),
    token("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,14}\.)?([A-Za-z0-9]{40,44})"),
    token("openshift-token", &["sha256~"], r"sha256~([\w-]{43})"),
    token("octopus-key", &["API-"], r"API-([A-Z0-9]{26})").least(Least::Entropy(3.0)),
    token("tailscale-key", &["tskey-"], r"tskey-[a-z]{2,10}-([\w-]{16,})"),
    token("sourcegraph-token", &["sgp_"], r"sgp_((?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40})"),
    token("harness-token", &["pat.", "sat."], r"[ps]at\.([\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20})"),
    token("age-secret-key", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1([QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58})"),
    token("onepassword-service-token", &["ops_eyJ"], r"ops_(eyJ[A-Za-z0-9+/]{200,}={0,3})"),
    token("onepassword-secret-key", &["A3-"], r"A3-([A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})").least(Least::Entropy(3.0)),
    token("settlemint-token", &["sm_aat_", "sm_pat_", "sm_sat_"], r"sm_[aps]at_([A-Za-z0-9]{16,})"),
    token("sonar-token", &["sqp_", "squ_", "sqa_"], r"sq[pua]_([a-f0-9]{40})"),
    token("prefect-token", &["pnu_"], r"pnu_([A-Za-z0-9]{36})"),
    token("planetscale-token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], r"pscale_(?:tkn|pw|oauth)_([\w=.-]{32,64})"),
    token("grafana-token", &["glsa_", "glc_"], r"gl(?:sa|c)_([\w+/=-]{32,})"),
    token("grafana-key", &["eyJrIjoi"], r"eyJrIjoi([A-Za-z0-9+/]{60,}={0,3})"),
    token("sentry-token", &["sntrys_", "sntryu_"], r"sntry[su]_([\w+/=-]{40,})"),
    token("newrelic-key", &["NRAK-", "NRII-", "NRJS-", "NRAL-"], r"NR(?:AK|II|JS|AL)-([\w-]{19,40})"),
    token("dynatrace-token", &["dt0c01."], r"dt0c01\.([A-Z0-9]{24}\.[A-Z0-9]{64})"),
    token("facebook-token", &["EAAC", "EAAM"], r"EAA[MC]([A-Za-z0-9]{80,})"),
    token("authress-key", &["sc_", "ext_", "scauth_", "authress_"], r"(?:sc|ext|scauth|authress)_((?i:[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[a-z0-9+/_=-]{30,120}))"),

    // Messages and mail.
    token("slack-token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxo-", "xoxs-", "xoxe-", "xoxe.xoxb-", "xoxe.xoxp-", "xoxc-"], r"xox(?:e\.xox[bp]|[abceoprs])-((?:\d{1,20}-){1,4}[A-Za-z0-9%]{8,})"),
    token("slack-app-token", &["xapp-"], r"xapp-(\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]+)"),
    token("slack-webhook", &["hooks.slack.com/"], r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{24,})"),
    token("teams-webhook", &["IncomingWebhook/"], r"IncomingWebhook/([a-z0-9]{32}/[a-z0-9]{8}-[a-z0-9-]{27})"),
    token("discord-bot-token", &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT", "Oj", "Oz"], r"([MNO][DTjz][A-Za-z0-9]{22,26}\.[\w-]{6}\.[\w-]{27,38})").least(Least::Entropy(3.5)),
    token("discord-webhook", &["/webhooks/"], r"/webhooks/\d{17,20}/([\w-]{60,})").after(Before::Word),
    token("telegram-bot-token", &[":AA"], r":(AA[\w-]{33})").after(Before::Digit),
    token("twilio-key", &["SK"], r"SK([0-9a-fA-F]{32})").least(Least::Entropy(3.0)),
    token("sendgrid-token", &["SG."], r"SG\.([\w-]{16,32}\.[\w-]{32,64})"),
    token("brevo-key", &["xkeysib-", "xsmtpsib-"], r"x(?:key|smtp)sib-([a-f0-9]{64}-[A-Za-z0-9]{16})"),
    token("mailgun-key", &["key-", "pubkey-"], r"(?:pub)?key-([a-f0-9]{32})"),
    token("mailchimp-key", &["-us"], r"([a-f0-9]{32})-us\d{1,2}").at(32).least(Least::Entropy(3.0)),

    // Payment and shops.
    token("stripe-key", &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"], r"[sr]k_(?:live|test|prod)_([A-Za-z0-9]{10,247})"),
    token("stripe-webhook-secret", &["whsec_"], r"whsec_([A-Za-z0-9+/=]{24,})"),
    token("square-token", &["sq0atp-", "sq0csp-", "sq0idp-"], r"sq0(?:atp|csp|idp)-([\w-]{22,60})"),
    token("square-access-token", &["EAAA"], r"EAAA([\w-]{22,60})").least(Least::Entropy(4.0)),
    token("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], r"shp(?:at|ca|pa|ss)_([a-fA-F0-9]{32})"),
    token("flutterwave-key", &["FLWSECK", "FLWPUBK"], r"FLW(?:SEC|PUB)K(?:_TEST)?-([a-zA-Z0-9]{12,40})"),
    token("easypost-key", &["EZAK", "EZTK"], r"EZ[AT]K([A-Za-z0-9]{54})"),
    token("shippo-token", &["shippo_live_", "shippo_test_"], r"shippo_(?:live|test)_([a-fA-F0-9]{40})"),
    token("duffel-token", &["duffel_"], r"duffel_(?:test|live)_([\w=-]{43})"),
    token("plaid-token", &["access-sandbox-", "access-development-", "access-production-"], r"access-(?:sandbox|development|production)-([0-9a-f-]{36})"),
    token("lob-key", &["live_", "test_"], r"(?:live|test)_(?:pub_)?([a-f0-9]{31,35})").least(Least::Entropy(3.0)),

    // Language models.
    token("openai-key", &["sk-"], r"sk-(?:proj-|svcacct-|admin-|None-)?([\w-]{20,}T3BlbkFJ[\w-]{20,})"),
    token("openai-project-key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], r"sk-(?:proj|svcacct|admin)-([\w-]{40,})"),
    token("anthropic-key", &["sk-ant-"], r"sk-ant-(?:[a-z]{3,10}\d\d-)?([\w-]{32,})"),
    token("model-api-key", &["sk-"], r"sk-(?:or-v1-|lf-)?([a-zA-Z0-9]{32,64})").least(Least::Entropy(3.0)),
    token("huggingface-token", &["hf_", "api_org_"], r"(?:hf|api_org)_([A-Za-z0-9]{34,40})").least(Least::Entropy(3.0)),
    token("perplexity-key", &["pplx-"], r"pplx-([A-Za-z0-9]{48})"),
    token("groq-key", &["gsk_"], r"gsk_([A-Za-z0-9]{52})"),
    token("xai-key", &["xai-"], r"xai-([\w]{70,})"),
    token("replicate-token", &["r8_"], r"r8_([A-Za-z0-9]{37,40})").least(Least::Entropy(3.0)),

    // Other services.
    token("adobe-client-secret", &["p8e-"], r"p8e-([A-Za-z0-9]{32})"),
    token("airtable-token", &["pat"], r"pat([A-Za-z0-9]{14}\.[a-f0-9]{64})"),
    token("linear-key", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_([A-Za-z0-9]{40,64})"),
    token("notion-token", &["ntn_", "secret_"], r"(?:ntn|secret)_([A-Za-z0-9]{43,50})").least(Least::Entropy(3.0)),
    token("postman-key", &["PMAK-"], r"PMAK-([a-fA-F0-9]{24}-[a-fA-F0-9]{34})"),
    token("readme-key", &["rdme_"], r"rdme_([a-z0-9]{70})"),
    token("typeform-token", &["tfp_"], r"tfp_([\w.=-]{59})"),
    token("frameio-token", &["fio-u-"], r"fio-u-([\w=-]{64})"),
    token("mapbox-token", &["pk.eyJ", "sk.eyJ"], r"[ps]k\.(eyJ[\w-]{20,}\.[\w-]{20,30})"),
    token("figma-token", &["figd_", "figu_"], r"fig[du]_([\w-]{36,60})"),
    token("contentful-token", &["CFPAT-"], r"CFPAT-([\w-]{40,50})"),
    token("maxmind-license-key", &["_mmk"], r"([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)").at(36),
    token("defined-networking-token", &["dnkey-"], r"dnkey-([a-z0-9=_-]{26}-[a-z0-9=_-]{52})"),

    token("intra42-secret", &["s-s4t2ud-", "s-s4t2af-"], r"s-s4t2(?:ud|af)-([a-f0-9]{64})"),

    // Standards.
    token("jwt", &["eyJ"], r"eyJ([\w-]{10,}\.ey[\w-]{10,}\.(?:[\w-]{10,}={0,2})?)").least(Least::Entropy(3.5)),
    token("jwt", &["ZXlK"], r"ZXlK([A-Za-z0-9+/]{60,}={0,2})").least(Least::Entropy(3.5)),
    token("authorization-header", &["Basic ", "Bearer ", "basic ", "bearer "], r"(?:[Bb]asic|[Bb]earer) ([\w.~+/=-]{20,})").least(Least::Random),
];
