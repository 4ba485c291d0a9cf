//! Macros that generate the list and item handlers of all resources.

/// Defines the GET and POST handlers for a list.
///
/// `use_case` reads a page, and `lasting` determines how long that page can be reused. `create`
/// stores a new item.
macro_rules! list_routes {
    (
        items: $items:expr, tag: $tag:tt, path: $path:tt,
        $(#[$list_doc:meta])*
        list: $list:ident $list_id:tt, page: $page:ident, params: $params:ident, errors: [$($error:tt),*],
        use_case: $use_case:path, lasting: $lasting:path,
        $(#[$create_doc:meta])*
        create: $create:ident $create_id:tt, body: $body:ident, fields: $fields:ident,
    ) => {
        $(#[$list_doc])*
        #[utoipa::path(
            operation_id = $list_id, tag = $tag, path = $path, params($params),
            responses((status = 200, body = $page), $((status = $error)),*),
        )]
        #[get($path)]
        pub async fn $list(
            input: Input,
            request: HttpRequest,
            state: Data<State>,
        ) -> Result<HttpResponse, Error> {
            let reuse = Reuse::of(&request, &state, &input.request, $lasting);
            reuse
                .answer(async {
                    let ReadList { list, page } = $use_case(&state, input.request).await?;
                    let mut response = reply::list(&list, &list.meta, input.fields.as_deref())?;
                    // The permit is dropped along with the head of the response. By then, the body
                    // has been compressed, and the connection accounts for its memory.
                    response.extensions_mut().insert(page);
                    Ok(response)
                })
                .await
        }

        $(#[$create_doc])*
        #[utoipa::path(
            operation_id = $create_id, tag = $tag, path = $path, request_body = $fields,
            security(("key" = []), ("bearer" = []), ("basic" = [])),
            responses((status = 201, body = $body), (status = 400), (status = 401), (status = 403), (status = 415)),
        )]
        #[post($path)]
        pub async fn $create(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
            $items.create(input, &state).await
        }
    };
}
pub(super) use list_routes;

/// Defines the GET, POST, PUT, PATCH and DELETE handlers for an item.
///
/// `find`, `update` and `remove` do the work. POST, PUT and PATCH are the same operation with
/// different operation ids. `noun` is the item's name in the documentation, including its article.
/// The path extractor has an alias, because utoipa would otherwise document more than the declared
/// parameters.
macro_rules! item_routes {
    (
        items: $items:expr, tag: $tag:tt, noun: $noun:tt, body: $body:ident, update: $update:ident,
        read: $read:ident, remove: $remove:ident,
        route: $route:tt, documented: $path:tt, key: $key:path, param: $param:ident,
               get: $get:ident $get_id:tt, post: $post:ident $post_id:tt, put: $put:ident $put_id:tt,
        patch: $patch:ident $patch_id:tt, delete: $delete:ident $delete_id:tt,
    ) => {
        /// Returns the item.
        #[utoipa::path(
            summary = concat!("Get ", $noun),
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
            let reuse = Reuse::of(&request, &state, &input.request, |_| Lasting::Always);
            reuse.answer($items.find($key(&path), input, &request, &state)).await
        }

        item_routes!(@write post, $post, $post_id, $tag, $noun, $body, $update, $route, $path, $key, $param, $items);
        item_routes!(@write put, $put, $put_id, $tag, $noun, $body, $update, $route, $path, $key, $param, $items);
        item_routes!(@write patch, $patch, $patch_id, $tag, $noun, $body, $update, $route, $path, $key, $param, $items);

        /// Deletes the item.
        #[utoipa::path(
            summary = concat!("Delete ", $noun),
            operation_id = $delete_id, tag = $tag, path = $path, params($param, $remove),
            security(("key" = []), ("bearer" = []), ("basic" = [])),
            responses((status = 200, body = $body), (status = 400), (status = 401), (status = 403), (status = 404), (status = 410), (status = 412)),
        )]
        #[delete($route)]
        pub async fn $delete(
            input: Input,
            path: InPath<String>,
            state: Data<State>,
        ) -> Result<HttpResponse, Error> {
            $items.remove($key(&path), input, &state).await
        }
    };
    (@write $method:ident, $name:ident, $id:tt, $tag:tt, $noun:tt, $body:ident, $update:ident, $route:tt, $path:tt, $key:path, $param:ident, $items:expr) => {
        /// Updates the item.
        ///
        /// Changes only the fields in the request. POST, PUT and PATCH are equivalent.
        #[utoipa::path(
            summary = concat!("Update ", $noun),
            operation_id = $id, tag = $tag, path = $path, params($param), request_body = $update,
            security(("key" = []), ("bearer" = []), ("basic" = [])),
            responses((status = 200, body = $body), (status = 400), (status = 401), (status = 403), (status = 404), (status = 412), (status = 415)),
        )]
        #[$method($route)]
        pub async fn $name(
            input: Input,
            path: InPath<String>,
            state: Data<State>,
        ) -> Result<HttpResponse, Error> {
            $items.update($key(&path), input, &state).await
        }
    };
}
pub(super) use item_routes;
