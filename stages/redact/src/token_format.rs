//! The table of known token formats.

/// A known format of tokens.
pub(crate) struct TokenFormat {
    /// Name of the rule.
    pub(crate) name: &'static str,
    /// Fixed strings, of which every token contains at least one.
    pub(crate) anchors: &'static [&'static str],
    /// Number of bytes between the start of the token and its anchor.
    pub(crate) offset: usize,
    /// Required context before the token.
    pub(crate) before: Before,
    /// Regular expression for the whole token. Its first group is the secret.
    pub(crate) pattern: &'static str,
    /// Requirement on the secret in addition to the pattern.
    pub(crate) criterion: Criterion,
    /// Whether the anchors are searched for in the whole text. Needed for formats whose tokens need not contain a long
    /// run of token characters, for example because they contain dots.
    pub(crate) in_any_run: bool,
}

/// Requirement that distinguishes a secret from a placeholder or other text.
pub(crate) enum Criterion {
    /// The secret must not be filler such as `xxxx`. Used if the prefix identifies the token.
    Prefix,
    /// The secret must have at least this entropy in bits per byte. Used for prefixes that also occur in other text.
    Entropy(f64),
    /// The secret must look random, or the name of an authorization header must precede the token.
    Header,
    /// The secret must look random. Used for prefixes that are common in programs.
    Random,
}

/// The context that is required before a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// No letter or digit precedes the token, unless it ends an escape sequence. If the prefix does not identify the
    /// token, no `_` or `-` precedes it either.
    Other,
    /// A letter or a digit precedes the token, because the anchor begins inside a path.
    Word,
    /// A digit precedes the token.
    Digit,
}

const fn token(name: &'static str, anchors: &'static [&'static str], pattern: &'static str) -> TokenFormat {
    TokenFormat {
        name,
        anchors,
        offset: 0,
        before: Before::Other,
        pattern,
        criterion: Criterion::Prefix,
        in_any_run: false,
    }
}

impl TokenFormat {
    const fn at(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    const fn after(self, before: Before) -> Self {
        Self { before, ..self }
    }

    const fn in_any_run(self) -> Self {
        Self { in_any_run: true, ..self }
    }

    const fn criterion(self, criterion: Criterion) -> Self {
        Self { criterion, ..self }
    }
}

/// All known formats. If a provider documents a fixed prefix, the prefix is not part of the secret.
#[rustfmt::skip]
pub(crate) const FORMATS: &[TokenFormat] = &[
    // Clouds.
    token("aws-appsync-key", &["da2-"], r"da2-([a-z0-9]{26})"),
    token("azure-container-registry-key", &["+ACR"], r"([A-Za-z0-9+/]{42}\+ACR[A-Za-z0-9]{6})").at(42),
    token("azure-devops-token", &["AZDO"], r"([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})").at(76),
    token("azure-storage-key", &["+ASt", "ACDb", "+ABa", "+AMC", "APIM"], r"([A-Za-z0-9+/]{76}(?:\+ASt|ACDb|\+ABa|\+AMC|APIM)[A-Za-z0-9+/]{5}[AQgw]==)").at(76),
    token("azure-function-key", &["AzFu"], r"([\w-]{44}AzFu[\w-]{5}[AQgw]==)").at(44),
    token("azure-search-key", &["AzSe"], r"([A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5})").at(42),
    token("azure-cache-key", &["AzCa", "+ASb", "+AEh", "+ARm", "AIoT"], r"([A-Za-z0-9+/]{33}(?:AzCa|\+ASb|\+AEh|\+ARm|AIoT)[A-P][A-Za-z0-9+/]{5}=)").at(33),
    token("cloudflare-token", &["cfut_", "cfat_", "cfk_"], r"cf(?:[ua]t|k)_([A-Za-z0-9]{40}[a-f0-9]{8})"),
    token("yandex-key", &["AQVN"], r"AQVN([\w-]{35,38})").criterion(Criterion::Entropy(3.5)),
    token("yandex-token", &["t1."], r"t1\.([\w-]+={0,2}\.[\w-]{86}={0,2})").criterion(Criterion::Entropy(3.5)),
    token("google-refresh-token", &["1//0"], r"1//0([\w-]{40,})").criterion(Criterion::Entropy(3.5)),
    token("nvidia-key", &["nvapi-"], r"nvapi-([\w-]{64})"),
    token("netlify-token", &["nfp_", "nfc_", "nfo_", "nfu_", "nfb_"], r"nf[pcoub]_([A-Za-z0-9]{36})"),
    token("render-key", &["rnd_"], r"rnd_([A-Za-z0-9]{32})").criterion(Criterion::Entropy(3.0)),
    token("supabase-token", &["sbp_"], r"sbp_([a-z0-9]{40})"),
    token("supabase-secret-key", &["sb_secret_"], r"sb_secret_([\w-]{31})"),
    token("neon-key", &["napi_"], r"napi_([a-z0-9]{64})"),
    token("aws-access-key-id", &["AKIA", "ASIA", "ABIA", "ACCA", "A3T"], r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])([A-Z0-9]{16})"),
    token("aws-bedrock-key", &["ABSK"], r"ABSK([A-Za-z0-9+/]{100,}={0,2})"),
    token("aws-bedrock-short-key", &["bedrock-api-key-"], r"bedrock-api-key-([A-Za-z0-9+/=]{20,})"),
    token("gcp-api-key", &["AIza"], r"AIza([\w-]{35})"),
    token("google-oauth-secret", &["GOCSPX-"], r"GOCSPX-([\w-]{28})"),
    token("google-oauth-token", &["ya29."], r"ya29\.([\w-]{20,})"),
    token("azure-ad-client-secret", &["Q~"], r"([\w~.]{3}\dQ~[\w~.-]{31,34})").at(4).in_any_run(),
    token("azure-account-key", &["AccountKey=", "SharedAccessKey=", "SharedSecretKey="], r"(?:AccountKey|SharedAccessKey|SharedSecretKey)=([A-Za-z0-9+/]{43,86}={0,2})"),
    token("azure-shared-access-signature", &["sig="], r"sig=([A-Za-z0-9%+/]{43,}=?)").criterion(Criterion::Entropy(3.5)),
    token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[por]_v1_([a-f0-9]{64})"),
    token("alibaba-access-key-id", &["LTAI"], r"LTAI([A-Za-z0-9]{16,24})"),
    token("heroku-api-key", &["HRKU-AA"], r"HRKU-AA([\w-]{58})"),
    token("cloudflare-origin-ca-key", &["v1.0-"], r"v1\.0-([a-f0-9]{24}-[a-f0-9]{146})"),
    token("flyio-token", &["fo1_", "fm1r_", "fm1a_", "fm2_"], r"f(?:o1|m1[ar]|m2)_([\w+/=-]{40,})"),
    token("databricks-token", &["dapi"], r"dapi([a-f0-9]{32}(?:-\d)?)").criterion(Criterion::Entropy(2.5)),
    token("clickhouse-cloud-key", &["4b1d"], r"4b1d([A-Za-z0-9]{38})").criterion(Criterion::Entropy(3.0)),
    token("scalingo-token", &["tk-us-"], r"tk-us-([\w-]{48})"),

    // Code hosting, packages, infrastructure.
    token("atlassian-data-center-token", &["BBDC-"], r"BBDC-([A-Za-z0-9+/_-]{40,50})"),
    token("trello-token", &["ATTA"], r"ATTA([a-f0-9]{72})"),
    token("buildkite-token", &["bkua_"], r"bkua_([a-z0-9]{40})"),
    token("circleci-token", &["CCIPAT_", "CCIPRJ_"], r"CCIP(?:AT|RJ)_([A-Za-z0-9]{22}_[a-fA-F0-9]{40})"),
    token("crates-io-token", &["cio"], r"cio([A-Za-z0-9]{32})").criterion(Criterion::Entropy(3.5)),
    token("deno-token", &["ddp_", "ddw_"], r"dd[pw]_([A-Za-z0-9]{36})"),
    token("endor-labs-key", &["endr+"], r"endr\+([A-Za-z0-9-]{16})"),
    token("infracost-key", &["ico-"], r"ico-([A-Za-z0-9]{32})").criterion(Criterion::Entropy(3.0)),
    token("launchdarkly-key", &["api-", "sdk-", "mob-"], r"(?:api|sdk|mob)-([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})").criterion(Criterion::Entropy(2.5)),
    token("newrelic-license-key", &["FFFFNRAL"], r"((?:[0-9a-f]{32}|eu01xx[0-9a-f]{26})FFFFNRAL)").at(32),
    token("newrelic-mobile-token", &["-NRMA"], r"((?:AA[0-9a-f]{40}|eu01xx[0-9a-f]{36})-NRMA)").at(42),
    token("pganalyze-key", &["pgar_"], r"pgar_([A-Za-z0-9]{27})"),
    token("rootly-key", &["rootly_"], r"rootly_([a-f0-9]{64})"),
    token("salad-cloud-key", &["salad_cloud_"], r"salad_cloud_([A-Za-z0-9]{1,7}_[A-Za-z0-9]{7,235})"),
    token("sourcegraph-cody-token", &["slk_"], r"slk_([a-f0-9]{64})"),
    token("spectral-token", &["spu-"], r"spu-([a-z0-9]{32})").criterion(Criterion::Entropy(3.0)),
    token("trufflehog-secret", &["thog-secret-"], r"thog-secret-([0-9a-f]{32})"),
    token("fullstory-key", &["na1."], r"na1\.([A-Za-z0-9+/]{100})"),
    token("posthog-key", &["phx_"], r"phx_(\w{43,48})"),
    token("robinhood-key", &["rh-api-"], r"rh-api-([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"),
    token("axiom-token", &["xaat-", "xapt-"], r"xa[ap]t-([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"),
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_([A-Za-z0-9]{36,255})"),
    token("github-fine-grained-token", &["github_pat_"], r"github_pat_(\w{36,255})"),
    token("gitlab-token", &["glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-", "glwt-"], r"gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-([\w=-]{20,}(?:\.[\w-]{2,}){0,2})"),
    token("gitlab-runner-registration-token", &["GR1348941"], r"GR1348941([\w-]{20})"),
    token("gitlab-session", &["_gitlab_session="], r"_gitlab_session=([0-9a-z]{32})"),
    token("bitbucket-token", &["ATBB", "ATCTT3", "ATATT"], r"AT(?:BB|CTT3|ATT)([\w+/=-]{24,})"),
    token("npm-token", &["npm_"], r"npm_([A-Za-z0-9]{36})"),
    token("pypi-token", &["pypi-AgE"], r"pypi-AgE([\w-]{50,})"),
    token("rubygems-token", &["rubygems_"], r"rubygems_([a-f0-9]{48})"),
    token("nuget-key", &["oy2"], r"oy2([a-z0-9]{43})").criterion(Criterion::Entropy(3.5)),
    token("clojars-token", &["CLOJARS_"], r"CLOJARS_([a-z0-9]{60})"),
    token("docker-token", &["dckr_pat_", "dckr_oat_"], r"dckr_[po]at_([\w-]{27,32})"),
    token("artifactory-key", &["AKCp"], r"AKCp([A-Za-z0-9]{69})"),
    token("artifactory-reference-token", &["cmVmd"], r"cmVmd([A-Za-z0-9]{59})"),
    token("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.([\w-]{24,})"),
    token("vault-legacy-token", &["s."], r"s\.([A-Za-z0-9]{24})").criterion(Criterion::Random),
    token("terraform-token", &["atlasv1."], r"([A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70})").at(15),
    token("pulumi-token", &["pul-"], r"pul-([a-z0-9]{40})"),
    token("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,14}\.)?([A-Za-z0-9]{40,44})"),
    token("openshift-token", &["sha256~"], r"sha256~([\w-]{43})"),
    token("octopus-key", &["API-"], r"API-([A-Z0-9]{26,34})").criterion(Criterion::Entropy(3.0)),
    token("tailscale-key", &["tskey-"], r"tskey-[a-z]{2,10}-([\w-]{14,})"),
    token("sourcegraph-token", &["sgp_"], r"sgp_((?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40})"),
    token("harness-token", &["pat.", "sat."], r"[ps]at\.([\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20})").criterion(Criterion::Entropy(2.5)),
    token("age-secret-key", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1([QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58})"),
    token("onepassword-service-token", &["ops_eyJ"], r"ops_(eyJ[A-Za-z0-9+/]{200,}={0,3})"),
    token("onepassword-secret-key", &["A3-"], r"A3-([A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})"),
    token("settlemint-token", &["sm_aat_", "sm_pat_", "sm_sat_"], r"sm_[aps]at_([A-Za-z0-9]{16,})"),
    token("sonar-token", &["sqp_", "squ_", "sqa_", "sqco_"], r"sq(?:[pua]|co)_([a-f0-9]{40}|[A-Za-z0-9]{59})"),
    token("prefect-token", &["pnu_"], r"pnu_([A-Za-z0-9]{36})"),
    token("planetscale-token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], r"pscale_(?:tkn|pw|oauth)_([\w.=-]{32,64})").in_any_run(),
    token("grafana-token", &["glsa_", "glc_"], r"gl(?:sa|c)_([\w+/=-]{32,})"),
    token("grafana-key", &["eyJrIjoi"], r"eyJrIjoi([A-Za-z0-9+/]{60,}={0,3})"),
    token("sentry-token", &["sntrys_", "sntryu_"], r"sntry[su]_([\w+/=-]{40,})"),
    token("newrelic-key", &["NRAK-", "NRII-", "NRJS-", "NRAL-", "NRBR-", "NRIQ-"], r"NR(?:AK|II|JS|AL|BR|IQ)-([\w-]{19,40})"),
    token("dynatrace-token", &["dt0c01."], r"dt0c01\.([A-Za-z0-9]{24}\.[A-Za-z0-9]{64})"),
    token("facebook-token", &["EAAC", "EAAM"], r"EAA[MC]([A-Za-z0-9]{80,})"),
    token("authress-key", &["sc_", "ext_", "scauth_", "authress_"], r"(?:sc|ext|scauth|authress)_((?i:[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[a-z0-9+/_=-]{30,120}))").criterion(Criterion::Entropy(2.5)),

    // Messages and mail.
    token("zapier-webhook", &["hooks.zapier.com/"], r"hooks\.zapier\.com/hooks/catch/([A-Za-z0-9/]{14,})"),
    token("tines-webhook", &[".tines.com/webhook/"], r"\.tines\.com/webhook/([a-z0-9]{32}/[a-z0-9]{32})").after(Before::Word),
    token("resend-key", &["re_"], r"re_([A-Za-z0-9]{8}_[A-Za-z0-9]{24})").criterion(Criterion::Entropy(3.5)),
    token("klaviyo-key", &["pk_"], r"pk_((?:[A-Za-z0-9]{6}_)?[0-9a-f]{34})").criterion(Criterion::Entropy(2.5)),
    token("slack-token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxo-", "xoxs-", "xoxe-", "xoxe.xoxb-", "xoxe.xoxp-", "xoxc-"], r"xox(?:e\.xox[bp]|[abceoprs])-([A-Za-z0-9%-]{20,})"),
    token("slack-app-token", &["xapp-"], r"xapp-(\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]{20,})"),
    token("slack-webhook", &["hooks.slack.com/"], r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{24,})"),
    token("teams-webhook", &["IncomingWebhook/"], r"IncomingWebhook/([a-z0-9]{32}/[a-z0-9]{8}-[a-z0-9-]{27})"),
    token("discord-bot-token", &["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT", "Oj", "Oz"], r"([MNO][DTjz][A-Za-z0-9]{22,26}\.[\w-]{6}\.[\w-]{27,38})").criterion(Criterion::Entropy(3.5)),
    token("discord-webhook", &["/webhooks/"], r"/webhooks/\d{17,20}/([\w-]{60,})").after(Before::Word),
    token("telegram-bot-token", &[":AA"], r":(AA[\w-]{33})").after(Before::Digit),
    token("twilio-key", &["SK"], r"SK([0-9a-fA-F]{32})").criterion(Criterion::Entropy(2.5)),
    token("sendgrid-token", &["SG."], r"SG\.([\w-]{16,32}\.[\w-]{32,64})"),
    token("brevo-key", &["xkeysib-", "xsmtpsib-"], r"x(?:key|smtp)sib-([a-f0-9]{64}-[A-Za-z0-9]{16})"),
    token("mailgun-key", &["key-", "pubkey-"], r"(?:pub)?key-([a-z0-9]{32})").criterion(Criterion::Entropy(2.5)),
    token("mailchimp-key", &["-us"], r"([a-f0-9]{32})-us\d{1,2}").at(32).criterion(Criterion::Entropy(2.5)),

    // Payment and shops.
    token("stripe-payment-secret", &["pi_", "seti_"], r"(?:pi|seti)_([A-Za-z0-9]{24}_secret_[A-Za-z0-9]{25})"),
    token("pagarme-key", &["ak_live_", "ak_test_"], r"ak_(?:live|test)_([A-Za-z0-9]{30})"),
    token("razorpay-key-id", &["rzp_live_", "rzp_test_"], r"rzp_(?:live|test)_([A-Za-z0-9]{14})"),
    token("recharge-key", &["sk_"], r"sk_(?:test_)?((?:1|2|3|5|10)x[123]_[0-9a-fA-F]{64})"),
    token("checkout-key", &["sk_"], r"sk_(?:test_|sbox_)?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"),
    token("flexport-token", &["shltm_"], r"shltm_([\w-]{40})"),
    token("fleetbase-key", &["flb_live_", "flb_test_"], r"flb_(?:live|test)_([A-Za-z0-9]{20})"),
    token("ramp-secret", &["ramp_sec_"], r"ramp_sec_([A-Za-z0-9]{48})"),
    token("stripe-key", &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"], r"[sr]k_(?:live|test|prod)_([A-Za-z0-9]{12,247})"),
    token("stripe-webhook-secret", &["whsec_"], r"whsec_([A-Za-z0-9+/=]{24,})"),
    token("square-token", &["sq0"], r"sq0[a-z]{3}-([\w-]{22,60})"),
    token("square-access-token", &["EAAA"], r"EAAA([\w-]{22,60})").criterion(Criterion::Entropy(3.4)),
    token("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], r"shp(?:at|ca|pa|ss)_([a-fA-F0-9]{32})"),
    token("flutterwave-key", &["FLWSECK", "FLWPUBK"], r"FLW(?:SEC|PUB)K(?:_TEST)?-([a-zA-Z0-9]{12,40})"),
    token("easypost-key", &["EZAK", "EZTK"], r"EZ[AT]K([A-Za-z0-9]{54})"),
    token("shippo-token", &["shippo_live_", "shippo_test_"], r"shippo_(?:live|test)_([a-fA-F0-9]{40})"),
    token("duffel-token", &["duffel_"], r"duffel_(?:test|live)_([\w=-]{43})"),
    token("plaid-token", &["access-sandbox-", "access-development-", "access-production-"], r"access-(?:sandbox|development|production)-([0-9a-f-]{36})").criterion(Criterion::Entropy(2.5)),
    token("lob-key", &["live_", "test_"], r"(?:live|test)_(?:pub_)?([a-f0-9]{31,35})").criterion(Criterion::Entropy(2.5)),

    // Language models.
    token("elevenlabs-key", &["sk_"], r"sk_([a-f0-9]{48})"),
    token("langsmith-key", &["lsv2_pt_", "lsv2_sk_"], r"lsv2_(?:pt|sk)_([a-f0-9]{32}_[a-f0-9]{10})"),
    token("pinecone-key", &["pcsk_"], r"pcsk_([A-Za-z0-9]{5,6}_[A-Za-z0-9]{63})"),
    token("together-key", &["tgp_v1_"], r"tgp_v1_([\w-]{43})"),
    token("jina-key", &["jina_"], r"jina_([\w-]{60})"),
    token("tavily-key", &["tvly-"], r"tvly-([A-Za-z0-9-]{20,60})"),
    token("firecrawl-key", &["fc-"], r"fc-([a-f0-9]{32})").criterion(Criterion::Entropy(2.5)),
    token("e2b-key", &["e2b_"], r"e2b_([a-f0-9]{40})"),
    token("openai-key", &["sk-"], r"sk-(?:proj-|svcacct-|admin-|None-)?([\w-]{20,}T3BlbkFJ[\w-]{20,})"),
    token("openai-project-key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], r"sk-(?:proj|svcacct|admin)-([\w-]{40,})"),
    token("anthropic-key", &["sk-ant-"], r"sk-ant-(?:[a-z]{3,10}\d\d-)?([\w-]{32,})"),
    token("model-api-key", &["sk-"], r"sk-(?:or-v1-|lf-)?([a-zA-Z0-9]{32,64}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})").criterion(Criterion::Entropy(3.0)),
    token("huggingface-token", &["hf_", "api_org_"], r"(?:hf|api_org)_([A-Za-z0-9]{34,40})").criterion(Criterion::Entropy(3.0)),
    token("perplexity-key", &["pplx-"], r"pplx-([A-Za-z0-9]{48})"),
    token("groq-key", &["gsk_"], r"gsk_([A-Za-z0-9]{52})"),
    token("xai-key", &["xai-"], r"xai-([\w]{70,})"),
    token("replicate-token", &["r8_"], r"r8_([\w-]{37,40})").criterion(Criterion::Entropy(3.0)),

    // Other services.
    token("adafruit-key", &["aio_"], r"aio_([A-Za-z0-9]{28})").criterion(Criterion::Entropy(3.0)),
    token("apify-token", &["apify_api_"], r"apify_api_([A-Za-z0-9-]{36})"),
    token("asana-token", &["1/", "2/"], r"[12]/(\d{16,}(?:/\d{16,})?:[A-Za-z0-9]{32,})").criterion(Criterion::Entropy(2.5)),
    token("bannerbear-key", &["bb_pr_", "bb_ma_"], r"bb_(?:pr|ma)_([a-f0-9]{30})"),
    token("clickup-token", &["pk_"], r"pk_(\d{7,9}_[0-9A-Z]{32})"),
    token("close-key", &["api_"], r"api_([A-Za-z0-9]{22}\.[A-Za-z0-9]{22})"),
    token("dropbox-token", &["sl."], r"sl\.(?:u\.)?([\w=-]{130,})").criterion(Criterion::Entropy(3.5)),
    token("hubspot-token", &["pat-"], r"pat-(?:eu|na)\d-([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"),
    token("locationiq-token", &["pk."], r"pk\.([A-Za-z0-9]{32})").criterion(Criterion::Entropy(3.5)),
    token("nightfall-key", &["NF-"], r"NF-([A-Za-z0-9]{32})").criterion(Criterion::Entropy(3.0)),
    token("salesforce-token", &["00D"], r"00D([A-Za-z0-9]{12}![\w.]{80,})"),
    token("salesforce-refresh-token", &["5Aep861", "5AEP861"], r"5A(?:ep|EP)861([\w.=]{80,})"),
    token("salesforce-consumer-key", &["3MVG9"], r"3MVG9([\w.+/=]{80,251})"),
    token("portainer-token", &["ptr_"], r"ptr_([\w/+=-]{40,60})").criterion(Criterion::Entropy(3.5)),
    token("photoroom-key", &["sk_pr_"], r"sk_pr_([A-Za-z0-9]{1,64}_[a-fA-F0-9]{40})"),
    token("teamwork-token", &["tkn.v1_"], r"tkn\.v1_([A-Za-z0-9]{71}=)"),
    token("telnyx-key", &["KEY"], r"KEY([\w-]{55})").criterion(Criterion::Entropy(4.0)),
    token("ticket-tailor-key", &["sk_"], r"sk_(\d{4}_\d{6}_[a-f0-9]{32})"),
    token("besttime-key", &["pri_"], r"pri_([a-f0-9]{32})").criterion(Criterion::Entropy(2.5)),
    token("tableau-token", &["==:"], r"([A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32})").at(22),
    token("twitter-bearer-token", &["AAAAAAAAAAAAAAAAAAAAAA"], r"A{22}([A-Za-z0-9%]{80,100})").criterion(Criterion::Entropy(4.0)),
    token("ubidots-token", &["BBFF-"], r"BBFF-([A-Za-z0-9]{30})"),
    token("voiceflow-key", &["VF."], r"VF\.(?:(?:DM|WS)\.)?([a-fA-F0-9]{24}\.[A-Za-z0-9]{16})"),
    token("zoho-token", &["1000."], r"1000\.([a-f0-9]{32}\.[a-f0-9]{32})"),
    token("adobe-client-secret", &["p8e-"], r"p8e-([A-Za-z0-9]{32})"),
    token("airtable-token", &["pat"], r"pat([A-Za-z0-9]{14}\.[a-f0-9]{64})").criterion(Criterion::Entropy(2.5)),
    token("linear-key", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_([A-Za-z0-9]{40,64})"),
    token("notion-token", &["ntn_", "secret_"], r"(?:ntn|secret)_([A-Za-z0-9]{43,50})").criterion(Criterion::Entropy(3.0)),
    token("postman-key", &["PMAK-"], r"PMAK-([A-Za-z0-9]{24}-[A-Za-z0-9]{34})"),
    token("readme-key", &["rdme_"], r"rdme_([a-z0-9]{70})"),
    token("typeform-token", &["tfp_"], r"tfp_([\w.=-]{40,59})").in_any_run(),
    token("frameio-token", &["fio-u-"], r"fio-u-([\w=-]{64})"),
    token("mapbox-token", &["pk.eyJ", "sk.eyJ"], r"[ps]k\.(eyJ[\w-]{20,}\.[\w-]{20,30})"),
    token("figma-token", &["figd_", "figu_", "figp_"], r"fig[dup]_([\w=-]{36,60})"),
    token("contentful-token", &["CFPAT-"], r"CFPAT-([\w-]{40,50})"),
    token("maxmind-license-key", &["_mmk"], r"([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)").at(36),
    token("defined-networking-token", &["dnkey-"], r"dnkey-([a-z0-9=_-]{26}-[a-z0-9=_-]{52})"),

    token("intra42-secret", &["s-s4t2ud-", "s-s4t2af-"], r"s-s4t2(?:ud|af)-([a-f0-9]{64})"),

    // Salted password hashes. Docker Compose files write dollar signs twice.
    token("sha512-crypt-hash", &["$6$"], r"\$6\$\$?(?:rounds=\d{1,9}\$\$?)?([./A-Za-z0-9]{1,16}\$\$?[./A-Za-z0-9]{86})").in_any_run(),
    token("sha256-crypt-hash", &["$5$"], r"\$5\$\$?(?:rounds=\d{1,9}\$\$?)?([./A-Za-z0-9]{1,16}\$\$?[./A-Za-z0-9]{43})").in_any_run(),
    token("md5-crypt-hash", &["$1$", "$apr1$"], r"\$(?:apr)?1\$\$?([./A-Za-z0-9]{1,8}\$\$?[./A-Za-z0-9]{22})").in_any_run(),
    token("bcrypt-hash", &["$2a$", "$2b$", "$2y$"], r"\$2[aby]\$\$?\d\d\$\$?([./A-Za-z0-9]{53})").in_any_run(),
    token("argon2-hash", &["$argon2i$", "$argon2d$", "$argon2id$"], r"\$argon2(?:id?|d)\$\$?(?:v=\d{1,3}\$\$?)?m=\d{1,10},t=\d{1,10},p=\d{1,8}\$\$?([A-Za-z0-9+/]{11,64}\$\$?[A-Za-z0-9+/]{16,86})").in_any_run(),

    // Standards.
    token("jwt", &["eyJ"], r"eyJ([\w-]{17,}\.ey[\w-]{10,}\.(?:[\w-]{10,}={0,2})?)").criterion(Criterion::Entropy(3.5)),
    token("jwt", &["ZXlK"], r"ZXlK([A-Za-z0-9+/]{40,}={0,2})").criterion(Criterion::Entropy(3.5)),
    token("authorization-header", &["Basic ", "Bearer ", "basic ", "bearer "], r"(?:[Bb]asic|[Bb]earer) ([\w.~+/-][\w.~+/=-]{19,})").criterion(Criterion::Header),
];
