//! The shop as a client of HTTP meets it.

use reqwest::{Client, RequestBuilder, Response, StatusCode, header, redirect::Policy};

use super::{EMAIL, Outside, Shop};

struct Visitor {
    client: Client,
    shop: Shop,
    cookie: String,
}

impl Visitor {
    async fn new() -> Visitor {
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        Visitor { client, shop: Shop::start().await.unwrap(), cookie: String::new() }
    }

    async fn signed_in() -> Visitor {
        let mut visitor = Visitor::new().await;
        let password = visitor.shop.password().to_owned();
        let answer = visitor.sign_in(EMAIL, &password).await;
        assert_eq!((answer.status(), location(&answer)), (StatusCode::SEE_OTHER, "/orders"));
        let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap();
        for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        visitor.cookie = cookie.split(';').next().unwrap().to_owned();
        visitor
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.shop.addr())
    }

    async fn get(&self, path: &str) -> Response {
        self.client.get(self.url(path)).header(header::COOKIE, &self.cookie).send().await.unwrap()
    }

    async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.text().await.unwrap()
    }

    fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(self.url(path)).header(header::COOKIE, &self.cookie)
    }

    async fn sign_in(&self, email: &str, password: &str) -> Response {
        let body = format!("email={email}&password={password}");
        self.post("/login")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body)
            .send()
            .await
            .unwrap()
    }

    async fn send_back(&self, name: &str, bytes: Vec<u8>) -> Response {
        let mut body = format!(
            "--x\r\nContent-Disposition: form-data; name=\"receipt\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        )
        .into_bytes();
        body.extend(bytes);
        body.extend(b"\r\n--x\r\nContent-Disposition: form-data; name=\"reason\"\r\n\r\ntoo <b>many</b>\r\n--x--\r\n");
        self.post("/returns")
            .header(header::CONTENT_TYPE, "multipart/form-data; boundary=x")
            .body(body)
            .send()
            .await
            .unwrap()
    }
}

fn location(answer: &Response) -> &str {
    answer.headers()[header::LOCATION].to_str().unwrap()
}

#[tokio::test]
async fn the_orders_are_for_those_who_signed_in() {
    let stranger = Visitor::new().await;
    for path in ["/orders", "/orders?page=2", "/orders.csv"] {
        let answer = stranger.get(path).await;
        assert_eq!((answer.status(), location(&answer)), (StatusCode::SEE_OTHER, "/login"), "{path}");
    }
    let visitor = Visitor::signed_in().await;
    assert!(visitor.page("/orders").await.contains("<table id=\"orders\">"));

    let answer = visitor.post("/logout").send().await.unwrap();
    assert_eq!(location(&answer), "/");
    assert_eq!(visitor.get("/orders").await.status(), StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_wrong_password_gets_a_message_and_no_cookie() {
    let visitor = Visitor::new().await;
    let answer = visitor.sign_in(EMAIL, "<script>").await;
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    assert!(answer.headers().get(header::SET_COOKIE).is_none());
    let page = answer.text().await.unwrap();
    assert!(page.contains("Email or password is wrong."), "{page}");
    assert!(!page.contains("<script>"), "{page}");
}

#[tokio::test]
async fn three_pages_hold_all_orders_and_lead_to_each_other() {
    let visitor = Visitor::signed_in().await;
    let mut rows = 0;
    for (path, links) in [
        ("/orders", &["rel=\"next\" href=\"/orders?page=2\""][..]),
        ("/orders?page=2", &["rel=\"prev\" href=\"/orders?page=1\"", "rel=\"next\" href=\"/orders?page=3\""]),
        ("/orders?page=3", &["rel=\"prev\" href=\"/orders?page=2\""]),
    ] {
        let page = visitor.page(path).await;
        rows += page.matches("<tr data-order=").count();
        assert_eq!(page.matches("rel=\"next\"").count() + page.matches("rel=\"prev\"").count(), links.len(), "{path}");
        for link in links {
            assert!(page.contains(link), "{path} lacks {link}");
        }
        assert!(page.contains("id=\"export\" href=\"/orders.csv\""));
    }
    assert_eq!(rows, 24);
    for path in ["/orders?page=0", "/orders?page=4", "/orders?page=x", "/orders?page=-1"] {
        assert_eq!(visitor.get(path).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn names_are_escaped_in_pages_and_quoted_in_the_export() {
    let visitor = Visitor::signed_in().await;
    let page = visitor.page("/orders").await;
    assert!(page.contains("O&#39;Neill &#60;Carpentry&#62;"), "{page}");
    assert!(!page.contains("<Carpentry>"), "{page}");

    let answer = visitor.get("/orders.csv").await;
    assert_eq!(answer.headers()[header::CONTENT_DISPOSITION], "attachment; filename=\"orders.csv\"");
    assert_eq!(answer.headers()[header::CONTENT_TYPE], "text/csv; charset=utf-8");
    assert_eq!(answer.text().await.unwrap(), super::orders::csv());
}

#[tokio::test]
async fn a_returned_file_is_named_with_its_size_and_hash() {
    let visitor = Visitor::new().await;
    let form = visitor.page("/returns").await;
    assert!(form.contains("<label for=\"receipt\">") && form.contains("id=\"receipt\" name=\"receipt\" type=\"file\""));

    let answer = visitor.send_back("receipt.txt", b"abc".to_vec()).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let page = answer.text().await.unwrap();
    // The test vector of FIPS 180-2 for "abc".
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    for expected in ["receipt.txt", "3 bytes", sha256, "too &#60;b&#62;many&#60;/b&#62;"] {
        assert!(page.contains(expected), "{expected} is not on the page: {page}");
    }
    assert_eq!(visitor.send_back("", Vec::new()).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_file_over_the_limit_is_refused_with_a_page_that_says_so() {
    let visitor = Visitor::new().await;
    let fits = vec![0; super::returns::FILE_BYTES_MAX];
    assert_eq!(visitor.send_back("large.bin", fits).await.status(), StatusCode::OK);
    let too_large = vec![0; super::returns::FILE_BYTES_MAX * 2];
    let answer = visitor.send_back("large.bin", too_large).await;
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn no_page_but_the_one_about_ways_out_names_another_host() {
    let visitor = Visitor::signed_in().await;
    for path in ["/", "/orders", "/returns", "/shop.css"] {
        let page = visitor.page(path).await;
        assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"), "{path}");
    }
    assert!(visitor.page("/outside").await.contains("src=\"http://outside.localhost/collect.js\""));
}

#[tokio::test]
async fn the_outside_server_counts_each_connection() {
    let outside = Outside::start().await.unwrap();
    assert_eq!(outside.connections(), 0);
    let answer = reqwest::get(format!("http://{}/", outside.addr())).await.unwrap();
    assert!(answer.status().is_success());
    assert_eq!(outside.connections(), 1);
}

#[tokio::test]
async fn a_shop_ends_with_its_owner() {
    let shop = Shop::start().await.unwrap();
    let addr = shop.addr();
    drop(shop);
    // The port is free again once the task is gone; taking it says so without a clock.
    let again = async {
        loop {
            match Shop::start_on(addr.port()).await {
                Ok(shop) => break shop,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let again = tokio::time::timeout(std::time::Duration::from_secs(10), again).await.unwrap();
    assert_eq!(again.addr(), addr);
}
