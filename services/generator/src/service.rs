//! The service as the shell runs it.

use std::sync::Arc;

use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::web::{Data, ServiceConfig};
use actix_web::{Error, HttpMessage};
use auth::{Gate, KeyStore, Quotas, Remaining, seed_plans};
use database::{DatabaseError, Pools};
use domain::SharedClock;
use futures_util::future::LocalBoxFuture;
use shell::{CorsRule, ErrorFormat, Next, Origin, Service, ServiceInfo, Shell, Switch, TlsMode};
use utoipa::openapi::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, HeaderBuilder, InfoBuilder, LicenseBuilder, Object, OpenApiBuilder, Ref,
    RefOr, Type,
};

use crate::access::{CallerSettings, HeaderKeys, plans};
use crate::error::Problems;
use crate::routes;
use crate::state::State;

/// The generator, ready to serve.
#[derive(Clone)]
pub struct Generator {
    gate: Gate,
    pools: Pools,
    state: State,
    anonymous: Switch,
}

/// The limit that [`Remaining`] tells where there is none.
const UNLIMITED: u32 = u32::MAX;

/// What counted answers tell about the caller's limit.
const RATE_HEADERS: [(&str, &str); 3] = [
    ("RateLimit-Limit", "Requests at once; absent where nothing limits them"),
    ("RateLimit-Remaining", "Requests that are left"),
    ("RateLimit-Reset", "Seconds until all are left again"),
];

const CORS: CorsRule = CorsRule {
    origin: Origin::Any,
    methods: "GET, POST",
    request_headers: "X-Api-Key, Content-Type",
    expose: "X-Seed, X-Ref-Date, X-Data-Version, Retry-After, RateLimit-Limit, \
             RateLimit-Remaining, RateLimit-Reset",
    max_age: Some(86_400),
    preflight: 204,
};

impl Generator {
    /// A service over its database, whose plans are seeded at the first start.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn new(
        pools: Pools,
        clock: SharedClock,
        callers: &CallerSettings,
    ) -> Result<Self, DatabaseError> {
        pools.write_blocking(|db| seed_plans(db, &plans()))?;
        let keys = KeyStore::new(pools.clone(), clock.clone());
        let gate = Gate::new(keys, Quotas::new(clock.clone()), HeaderKeys(callers.clone()));
        Ok(Self { gate, pools, state: State { clock }, anonymous: callers.anonymous })
    }

    /// Whether requests without a key are answered.
    pub fn is_open(&self) -> bool {
        self.anonymous.is_on()
    }
}

impl Service for Generator {
    const INFO: ServiceInfo = ServiceInfo {
        name: "generator",
        title: "Test-data generator",
        about: "Makes and checks synthetic test data: cards, numbers, names",
        version: env!("CARGO_PKG_VERSION"),
        http_port: 8081,
        https_port: 8481,
        admin_port: 9081,
        tls_mode: TlsMode::Off,
    };

    fn document() -> OpenApi {
        let tags = ["Card", "Finance", "Misc", "Name", "Phone", "SocialNumber", "Text"];
        let key = ApiKey::Header(ApiKeyValue::with_description(
            "X-Api-Key",
            "Optional unless the deployment wants one; a key has its own, larger limits.",
        ));
        let components =
            ComponentsBuilder::new().security_scheme("ApiKey", SecurityScheme::ApiKey(key));
        let components = RATE_HEADERS.into_iter().fold(components, |components, (name, text)| {
            let schema = Some(Object::with_type(Type::Integer));
            let header = HeaderBuilder::new().schema(schema).description(Some(text));
            components.header(name, header.build())
        });
        OpenApiBuilder::new()
            .info(
                InfoBuilder::new()
                    .title(Self::INFO.title)
                    .version("v1")
                    .description(Some(
                        "Makes and checks synthetic test data. Nothing here belongs to anybody: \
                         never send money to an account, a card or an address from here.",
                    ))
                    .license(Some(LicenseBuilder::new().name("MIT OR Apache-2.0").build()))
                    .build(),
            )
            .tags(Some(tags.map(|name| TagBuilder::new().name(name).build())))
            .components(Some(components.build()))
            .security(Some([
                SecurityRequirement::default(),
                SecurityRequirement::new("ApiKey", Vec::<String>::new()),
            ]))
            .build()
    }

    fn amend(document: &mut OpenApi) {
        let items = document.paths.paths.values_mut();
        let operations = items.flat_map(|item| [&mut item.get, &mut item.post]).flatten();
        // What needs no key is not counted.
        for operation in operations.filter(|operation| operation.security.is_none()) {
            for response in operation.responses.responses.values_mut() {
                let RefOr::T(response) = response else { continue };
                let shared = RATE_HEADERS.map(|(name, _)| {
                    let place = format!("#/components/headers/{name}");
                    (name.to_owned(), RefOr::Ref(Ref::new(place)))
                });
                response.headers.extend(shared);
            }
        }
    }

    fn routes(config: &mut utoipa_actix_web::service_config::ServiceConfig<'_>) {
        routes::register(config);
    }

    fn state(&self, config: &mut ServiceConfig) {
        config.app_data(Data::new(self.gate.clone())).app_data(Data::new(self.state.clone()));
    }

    fn errors(&self) -> Arc<dyn ErrorFormat> {
        Arc::new(Problems)
    }

    fn shell(&self) -> Shell {
        Shell {
            cors: |_| Some(&CORS),
            path: |path| routes::declared(path).or_else(|| Shell::trim_trailing_slash(path)),
            log_path: Shell::path_only,
            ..Shell::default()
        }
    }

    /// Tells every counted caller what is left.
    fn around(
        &self,
        request: ServiceRequest,
        next: Next,
    ) -> LocalBoxFuture<'static, Result<ServiceResponse, Error>> {
        Box::pin(async move {
            let mut response = next.call(request).await?;
            let state = response.request().extensions().get::<Remaining>().copied();
            if let Some(state) = state.filter(|state| state.limit != UNLIMITED) {
                let headers = response.headers_mut();
                for (name, value) in [
                    ("ratelimit-limit", u64::from(state.limit)),
                    ("ratelimit-remaining", u64::from(state.remaining)),
                    ("ratelimit-reset", state.reset),
                ] {
                    headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
                }
            }
            Ok(response)
        })
    }

    fn ready(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        let pools = self.pools.clone();
        Box::pin(async move { pools.ping().await.map_err(|error| error.to_string()) })
    }
}
