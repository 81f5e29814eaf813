//! The shop's pages: which address gives which page, and what stands on it.
//!
//! Not here: the orders themselves (`orders.rs`), who is signed in (`session.rs`), what the returns form does (`returns.rs`).

use std::sync::Arc;

use askama::Template;
use axum::{
    Form, Router,
    extract::{DefaultBodyLimit, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use serde::Deserialize;

use super::{
    orders::{self, Order, Status},
    outside::Outside,
    returns,
    session::Accounts,
};

pub(super) fn router(accounts: Arc<Accounts>) -> Router {
    Router::new()
        .route("/", get(start))
        .route("/login", get(login).post(sign_in))
        .route("/logout", post(sign_out))
        .route("/orders", get(list))
        .route("/orders.csv", get(export))
        .route("/returns", get(returns_form).post(returns::receive))
        .route("/outside", get(outside))
        .route("/shop.css", get(async || ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)))
        .route("/icon.svg", get(async || ([(header::CONTENT_TYPE, "image/svg+xml")], ICON)))
        .fallback(async || {
            let notice = Notice { heading: "Not here", text: "There is no such page in this shop." };
            show(StatusCode::NOT_FOUND, notice)
        })
        // Some room beside the file for the form's other parts.
        .layer(DefaultBodyLimit::max(returns::FILE_BYTES_MAX + 64 * 1024))
        .with_state(accounts)
}

const STYLE: &str = include_str!("pages/shop.css");
const ICON: &str = include_str!("pages/icon.svg");

/// Renders a page.
pub(super) fn show(status: StatusCode, page: impl Template) -> Response {
    match page.render() {
        Ok(html) => (status, [(header::CACHE_CONTROL, "no-store")], Html(html)).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page of the demo shop could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

#[derive(Template)]
#[template(path = "start.html")]
struct Start {
    signed_in: bool,
}

async fn start(State(accounts): State<Arc<Accounts>>, headers: HeaderMap) -> Response {
    show(StatusCode::OK, Start { signed_in: accounts.is_signed_in(&headers) })
}

#[derive(Template)]
#[template(path = "login.html")]
struct Login<'a> {
    email: &'a str,
    error: Option<&'static str>,
}

async fn login(State(accounts): State<Arc<Accounts>>, headers: HeaderMap) -> Response {
    if accounts.is_signed_in(&headers) {
        return Redirect::to("/orders").into_response();
    }
    show(StatusCode::OK, Login { email: "", error: None })
}

#[derive(Deserialize)]
struct Credentials {
    #[serde(default)]
    email: String,
    #[serde(default)]
    password: String,
}

async fn sign_in(State(accounts): State<Arc<Accounts>>, Form(given): Form<Credentials>) -> Response {
    match accounts.sign_in(&given.email, &given.password) {
        Ok(Some(cookie)) => ([(header::SET_COOKIE, cookie.to_string())], Redirect::to("/orders")).into_response(),
        Ok(None) => {
            let error = Some("Email or password is wrong.");
            show(StatusCode::UNAUTHORIZED, Login { email: &given.email, error })
        }
        Err(error) => {
            tracing::error!(%error, "nobody can sign in to the demo shop");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

async fn sign_out(State(accounts): State<Arc<Accounts>>, headers: HeaderMap) -> Response {
    let gone = accounts.sign_out(&headers);
    ([(header::SET_COOKIE, gone.to_string())], Redirect::to("/")).into_response()
}

#[derive(Template)]
#[template(path = "orders.html")]
struct Orders {
    orders: &'static [Order],
    page: usize,
    pages: usize,
    n_orders: usize,
}

impl Orders {
    fn badge(status: &Status) -> &'static str {
        match status {
            Status::Open => "open",
            Status::Packed | Status::Shipped => "moving",
            Status::Delivered => "done",
            Status::Returned => "back",
        }
    }
}

#[derive(Deserialize)]
struct PageQuery {
    page: Option<String>,
}

async fn list(State(accounts): State<Arc<Accounts>>, headers: HeaderMap, Query(query): Query<PageQuery>) -> Response {
    if !accounts.is_signed_in(&headers) {
        return Redirect::to("/login").into_response();
    }
    let wanted = query.page.as_deref().unwrap_or("1");
    let found = wanted.parse().ok().and_then(|page| Some((page, orders::page(page)?)));
    let Some((page, orders)) = found else {
        let text = format!("The orders have {} pages; there is no page {wanted}.", orders::PAGES);
        return show(StatusCode::NOT_FOUND, Notice { heading: "No such page", text: &text });
    };
    show(StatusCode::OK, Orders { orders, page, pages: orders::PAGES, n_orders: orders::ORDERS.len() })
}

async fn export(State(accounts): State<Arc<Accounts>>, headers: HeaderMap) -> Response {
    if !accounts.is_signed_in(&headers) {
        return Redirect::to("/login").into_response();
    }
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"orders.csv\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, orders::csv()).into_response()
}

#[derive(Template)]
#[template(path = "returns.html")]
struct Returns;

async fn returns_form() -> Response {
    show(StatusCode::OK, Returns)
}

/// The answer to the returns form.
#[derive(Default, Template)]
#[template(path = "received.html")]
pub(super) struct Received {
    /// The file's name, as the browser sent it.
    pub(super) name: String,
    /// Its size in bytes.
    pub(super) size: usize,
    /// Its SHA-256 in lower-case hex.
    pub(super) sha256: String,
    /// What the form's text field said.
    pub(super) reason: String,
}

#[derive(Template)]
#[template(path = "outside.html")]
struct OutsidePage {
    host: &'static str,
}

async fn outside() -> Response {
    show(StatusCode::OK, OutsidePage { host: Outside::HOST })
}

/// A page that says one thing.
#[derive(Template)]
#[template(path = "notice.html")]
pub(super) struct Notice<'a> {
    /// What happened.
    pub(super) heading: &'a str,
    /// What to do about it.
    pub(super) text: &'a str,
}
