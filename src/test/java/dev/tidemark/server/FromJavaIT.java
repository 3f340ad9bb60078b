package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The README's section for Java, run as it says. */
class FromJavaIT {
    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    @Test
    @Timeout(60)
    void whatTheReadmeShowsRunsAndDoesWhatItSays(@TempDir Path folder) throws Exception {
        assertTrue(Readme.text().contains("java -cp target/tidemark.jar FromJava.java"));
        Path source = folder.resolve("FromJava.java");
        Files.writeString(
                source,
                Readme.code("java", "class FromJava", URI.create(SERVER.url()).getAuthority()));
        Process program = new ProcessBuilder(ServerProcess.java(), "-cp", ServerProcess.jar(), source.toString())
                .redirectErrorStream(true)
                .start();
        String out = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(program.waitFor(30, TimeUnit.SECONDS), out);
        assertEquals(0, program.exitValue(), out);
        List<String> lines = out.lines().toList();
        assertTrue(lines.get(0).matches("tail EVT\\w{11} 1"), out);
        assertTrue(lines.get(1).matches("tail EVT\\w{11} two"), out);
        assertEquals("all 3", lines.get(2), out);
        assertEquals("after {\"hello\":\"subscriber\"}", lines.get(3), out);
        assertTrue(lines.get(4).matches("resume with \\S+"), out);
        assertEquals(5, lines.size(), out);
    }
}
