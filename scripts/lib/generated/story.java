import java.util.Map;

/**
 * One story for each service, told by the Java client that openapi-generator makes of its document: Story
 * GENERATOR BUCKETS KEY BREACHES PASSWORDS CALENDAR KEY.
 */
final class Story {
    private static void check(String what, boolean passed) {
        if (!passed) {
            throw new AssertionError("generated Java client: " + what);
        }
        System.err.println("  Java: " + what);
    }

    private static void makeACard(String base) throws Exception {
        var client = new generator.ApiClient();
        client.updateBaseUri(base);
        var api = new generator.api.CardApi(client);
        // A card, or with `quantity` a list: a union with a list, which this generator does not support.
        var card = (Map<?, ?>) api.generateCard("Visa", null, null, "check", null, null, null);
        var checked = api.validateCard((String) card.get("cardNumber"), null);
        check("generator: a card that is valid", checked.getIsValid());
        try {
            api.generateCard("Nonsense", null, null, null, null, null, null);
            check("generator: an error", false);
        } catch (generator.ApiException error) {
            check("generator: an error with its status", error.getCode() == 400);
        }
    }

    private static void listBuckets(String base, String key) throws Exception {
        var client = new buckets.ApiClient();
        client.updateBaseUri(base);
        client.setRequestInterceptor(request -> request.header("authorization", "Bearer " + key));
        var listed = new buckets.api.SearchApi(client).listBuckets(null, null, null, null, 2L, null, null);
        check("buckets: a page of buckets", listed.getBuckets().size() == 2);
    }

    private static void lookAnAccountUp(String base) throws Exception {
        var client = new breaches.ApiClient();
        client.updateBaseUri(base);
        client.setRequestInterceptor(request -> request.header("breach-api-key", "0".repeat(32)));
        var listed = new breaches.api.CatalogueApi(client).breaches(null, null);
        check("breaches: the catalogue", listed.stream().anyMatch(breach -> breach.getName().equals("Acmegram")));
        var found = new breaches.api.AccountsApi(client)
                .breachedAccount("account-exists@breach-integration-tests.example", null, null, null);
        check("breaches: an account", found.get(0).getName().equals("Acmegram"));
    }

    private static void askForARange(String base) throws Exception {
        var client = new passwords.ApiClient();
        client.updateBaseUri(base);
        var lines = new passwords.api.RangeApi(client).getPasswordRange("5BAA6", null, null);
        check("passwords: a range", lines.contains("1E4C9B93F3F0682250B6CF8331B7EE68FD8:"));
    }

    private static void makeAnEvent(String base, String key) throws Exception {
        var client = new calendar.ApiClient();
        client.updateBaseUri(base);
        client.setRequestInterceptor(request -> request.header("authorization", "Bearer " + key));
        var api = new calendar.api.EventsApi(client);
        var made = api.createEvent(new calendar.model.EventCreate()
                .title("By a Java client").startDate("+1 day 10:00").endDate("+1 day 11:00"), null);
        var read = api.getEvent(made.getId(), null, null, null);
        check("calendar: an event made and read", read.getTitle().equals("By a Java client"));
        api.deleteEvent(made.getId(), null, null, null, null);
    }

    public static void main(String[] given) throws Exception {
        makeACard(given[0]);
        listBuckets(given[1], given[2]);
        lookAnAccountUp(given[3]);
        askForARange(given[4]);
        makeAnEvent(given[5], given[6]);
    }
}
