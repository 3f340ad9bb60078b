package dev.tidemark.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.tidemark.archive.ArchiveAppender;
import dev.tidemark.livelog.LiveLogTrimmer;
import dev.tidemark.livelog.StripeAppender;

/** The package table of ARCHITECTURE.md, who owns what, and who may ask for the time. */
@AnalyzeClasses(packages = "dev.tidemark", importOptions = ImportOption.DoNotIncludeTests.class)
class PackageRulesTest {
    private static ArchRule mayUse(String user, String... used) {
        String[] allowed = new String[used.length + 2];
        allowed[0] = "dev.tidemark.event..";
        allowed[1] = "dev.tidemark." + user + "..";
        for (int i = 0; i < used.length; i++) {
            allowed[i + 2] = "dev.tidemark." + used[i] + "..";
        }
        DescribedPredicate<JavaClass> ours = JavaClass.Predicates.resideInAPackage("dev.tidemark..");
        return noClasses()
                .that()
                .resideInAPackage("dev.tidemark." + user + "..")
                .should()
                .dependOnClassesThat(
                        ours.and(DescribedPredicate.not(JavaClass.Predicates.resideInAnyPackage(allowed))));
    }

    @ArchTest
    static final ArchRule EVENT_USES_NOTHING = noClasses()
            .that()
            .resideInAPackage("dev.tidemark.event..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io..", "net..", "java.io..", "java.nio.file..", "java.util.concurrent..");

    @ArchTest
    static final ArchRule EVENT = mayUse("event");

    @ArchTest
    static final ArchRule LIVELOG = mayUse("livelog");

    @ArchTest
    static final ArchRule ARCHIVE = mayUse("archive");

    @ArchTest
    static final ArchRule KEEPER = mayUse("keeper", "livelog");

    @ArchTest
    static final ArchRule INGEST = mayUse("ingest", "keeper");

    @ArchTest
    static final ArchRule FOLD = mayUse("fold", "livelog", "archive", "keeper");

    @ArchTest
    static final ArchRule RETENTION = mayUse("retention", "fold", "keeper");

    @ArchTest
    static final ArchRule READ = mayUse("read", "livelog", "archive", "keeper");

    @ArchTest
    static final ArchRule HTTP = mayUse("http", "ingest", "read", "retention");

    @ArchTest
    static final ArchRule CLI = mayUse("cli", "server", "client");

    /** People put it into programs of their own: it comes with nothing. */
    @ArchTest
    static final ArchRule THE_CLIENT_USES_NOTHING_BUT_THE_JDK = noClasses()
            .that()
            .resideInAPackage("dev.tidemark.client..")
            .should()
            .dependOnClassesThat()
            .resideOutsideOfPackages("dev.tidemark.client..", "java..", "org.jspecify.annotations..");

    @ArchTest
    static final ArchRule THE_SERVER_DOES_NOT_USE_THE_CLIENT = noClasses()
            .that()
            .resideOutsideOfPackages("dev.tidemark.client..", "dev.tidemark.cli..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.tidemark.client..");

    @ArchTest
    static final ArchRule NOTHING_USES_SERVER_BUT_CLI = noClasses()
            .that()
            .resideOutsideOfPackages("dev.tidemark.server..", "dev.tidemark.cli..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.tidemark.server..");

    @ArchTest
    static final ArchRule ONLY_LIVELOG_KNOWS_THE_REDIS_CLIENT = noClasses()
            .that()
            .resideOutsideOfPackage("dev.tidemark.livelog..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.vertx.redis..", "redis.embedded..");

    @ArchTest
    static final ArchRule ONLY_ARCHIVE_KNOWS_CHRONICLE = noClasses()
            .that()
            .resideOutsideOfPackage("dev.tidemark.archive..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("net.openhft..");

    @ArchTest
    static final ArchRule ONLY_KEEPERS_APPEND_TO_THE_LIVE_LOG = noClasses()
            .that()
            .resideOutsideOfPackages("dev.tidemark.livelog..", "dev.tidemark.keeper..")
            .should()
            .callMethodWhere(com.tngtech.archunit.core.domain.JavaCall.Predicates.target(
                    com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner(
                            JavaClass.Predicates.assignableTo(StripeAppender.class))));

    @ArchTest
    static final ArchRule ONLY_THE_FOLD_TRIMS = noClasses()
            .that()
            .resideOutsideOfPackages("dev.tidemark.livelog..", "dev.tidemark.fold..")
            .should()
            .dependOnClassesThat()
            .areAssignableTo(LiveLogTrimmer.class)
            .andShould()
            .callMethod(
                    LiveLogTrimmer.class, "trim", dev.tidemark.event.StripeId.class, dev.tidemark.event.Position.class);

    @ArchTest
    static final ArchRule ONLY_THE_FOLD_WRITES_ARCHIVES = noClasses()
            .that()
            .resideOutsideOfPackages("dev.tidemark.archive..", "dev.tidemark.fold..")
            .should()
            .callMethodWhere(com.tngtech.archunit.core.domain.JavaCall.Predicates.target(
                            com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching(
                                    "append|appendMissing|force|publish"))
                    .and(com.tngtech.archunit.core.domain.JavaCall.Predicates.target(
                            com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner(
                                    JavaClass.Predicates.assignableTo(ArchiveAppender.class)))));

    @ArchTest
    static final ArchRule TIME_COMES_FROM_A_CLOCK = noClasses()
            .that()
            .doNotHaveFullyQualifiedName("dev.tidemark.event.SystemClock")
            .and()
            .resideOutsideOfPackages("dev.tidemark.cli..", "dev.tidemark.client..")
            .should()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(java.time.Instant.class, "now");

    @ArchTest
    static final ArchRule NO_PACKAGE_IS_A_DRAWER_FOR_EVERYTHING =
            classes().should().resideOutsideOfPackages("..util..", "..common..", "..impl..", "..manager..");

    @ArchTest
    static final ArchRule NO_NAME_HIDES_ITS_ROLE = noClasses()
            .should()
            .haveSimpleNameEndingWith("Impl")
            .orShould()
            .haveSimpleNameEndingWith("Manager")
            .orShould()
            .haveSimpleNameEndingWith("Helper")
            .orShould()
            .haveSimpleNameEndingWith("Util");
}
