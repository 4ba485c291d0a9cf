use crate::app::App;

#[actix_web::test]
async fn notices_of_the_data_are_served() {
    let app = App::start().await;
    let answer = app.get("/licenses").await.expect(200);
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    for word in
        ["faker-js", "Unicode", "libphonenumber", "MIT", "Apache License", "GeoNames", "CC BY"]
    {
        assert!(answer.text().contains(word), "{word}");
    }
}
