//! The five handlers of an item, for every resource alike.

/// Defines the five handlers of an item: GET, POST, PUT, PATCH and DELETE.
///
/// `find`, `update` and `remove` of the calling module do the work; POST, PUT and PATCH are the
/// same operation under names of their own, as the document has them. The extractor of the path goes by
/// another name, so that utoipa documents only the declared parameters.
macro_rules! item_routes {
    (
        tag: $tag:tt, body: $body:ident, update: $update:ident,
        read: $read:ident, remove: $remove:ident,
        route: $route:tt, documented: $path:tt, key: $key:path, param: $param:ident,
               get: $get:ident $get_id:tt, post: $post:ident $post_id:tt, put: $put:ident $put_id:tt,
        patch: $patch:ident $patch_id:tt, delete: $delete:ident $delete_id:tt,
    ) => {
        /// Reads the item.
        #[utoipa::path(
            operation_id = $get_id, tag = $tag, path = $path, params($param, $read),
            responses((status = 200, body = $body), (status = 304), (status = 400), (status = 403), (status = 404)),
        )]
        #[get($route)]
        pub async fn $get(
            input: Input,
            path: InPath<String>,
            request: HttpRequest,
            state: Data<State>,
        ) -> Result<HttpResponse, Error> {
            find($key(&path), input, &request, &state).await
        }

        item_routes!(@write post, $post, $post_id, $tag, $body, $update, $route, $path, $key, $param);
        item_routes!(@write put, $put, $put_id, $tag, $body, $update, $route, $path, $key, $param);
        item_routes!(@write patch, $patch, $patch_id, $tag, $body, $update, $route, $path, $key, $param);

        /// Deletes the item.
        #[utoipa::path(
            operation_id = $delete_id, tag = $tag, path = $path, params($param, $remove),
            security(("key" = []), ("bearer" = []), ("basic" = [])),
            responses((status = 200, body = $body), (status = 400), (status = 401), (status = 403), (status = 404), (status = 410)),
        )]
        #[delete($route)]
        pub async fn $delete(
            input: Input,
            path: InPath<String>,
            state: Data<State>,
        ) -> Result<HttpResponse, Error> {
            remove($key(&path), input, &state).await
        }
    };
    (@write $method:ident, $name:ident, $id:tt, $tag:tt, $body:ident, $update:ident, $route:tt, $path:tt, $key:path, $param:ident) => {
        /// Changes the item: only what is sent.
        #[utoipa::path(
            operation_id = $id, tag = $tag, path = $path, params($param), request_body = $update,
            security(("key" = []), ("bearer" = []), ("basic" = [])),
            responses((status = 200, body = $body), (status = 400), (status = 401), (status = 403), (status = 404)),
        )]
        #[$method($route)]
        pub async fn $name(
            input: Input,
            path: InPath<String>,
            state: Data<State>,
        ) -> Result<HttpResponse, Error> {
            update($key(&path), input, &state).await
        }
    };
}
pub(super) use item_routes;
