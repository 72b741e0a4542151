#!/usr/bin/env groovy
package com.example.shop

import java.util.concurrent.TimeUnit
import static org.junit.Assert.*
import com.example.Base as Model

/** The highest number of lines. */
final MAX = 10
def counter = 1
def twice = { int x -> x * 2 }

/**
 * A customer.
 */
@CompileStatic
abstract class User<T> extends Model<T> implements Named, Comparable<User> {
    static final int LIMIT = 3
    private String name = "x"
    def other
    def handler = { event ->
        event.consume()
    }

    // Makes one.
    User(int id) {
        this.id = id
    }

    @Override
    String toString() {
        if (name && open || closed) {
            return name ?: "none"
        }
        for (item in items) {
            item?.refresh()
        }
        while (busy()) {
            step()
        }
        try {
            return size > 1 ? new Label(name) : null
        } catch (IOException e) {
            log.warn("failed", e)
        }
    }

    protected abstract int count()

    private static <X> X secret(X value, int times = 1) {
        switch (times) {
            case 1:
                value.run()
                break
            default:
                items.each { it.close() }
        }
        return value
    }

    def "names may have spaces"() {
        expect:
        count() == 1
    }

    class Inner {
        void open() {
            connect()
        }
    }
}

interface Shape extends Named {
    double area()
}

trait Flying {
    void fly() {
        up()
    }
}

enum Color implements Named {
    RED, GREEN;

    int tone() {
        return ordinal()
    }
}

@interface Marker {
    String value()
}

/** Adds. */
int add(int a, int b) {
    return a + b
}

def greet(String who) {
    println who
}

plugins {
    id 'java'
}

ext.level = 11

dependencies {
    implementation 'org.example:core:1.0'
}

task hello {
    doLast {
        println 'hello'
    }
}

task copyDocs(type: Copy) {
    from 'docs'
}

tasks.register('zip', Zip) {
    from 'build'
}

pipeline {
    stages {
        stage('Build') {
            steps {
                sh 'make'
            }
        }
    }
}

def (first, second) = pair()

def 'quoted at file level'(Map options = [:]) {
    echo "count: ${options.collect { "${it.key}" }.size()}"
    sh script: 'make', returnStdout: true
}

class Reader {
    static public final int SIZE = 10_000
    def pattern = ~/a"b/
    String path

    Reader(Map options = [:], String... names) {
        this.path = options.path ?: $/C:\it's/$
    }

    String getPath() { path }

    @Requires({ os.linux })
    def "reads #count lines"() {
        given:
        def found = lines
            .findAll { it !in skipped }
            .collect { it.trim() }
        def half = total / 2 / count()
        when:
        log.debug "found ${found*.size()}"
        then:
        found ==~ /\d+/ && check(found as Set)
    }

    def listener() {
        return new Listener<String>() {
            void heard(String what) { answer(what) }
        }
    }
}

enum Level {
    LOW(1),
    HIGH(2) {
        int weight() { heavy() }
    }

    Level(int value) { set(value) }
}

workflow deploy {
    main()
}
